// Writes the template of `kubectl gc -o html`: one file with script, style and a policy that forbids everything else.
// `node build.mjs --check` writes nothing, and fails if the file differs from what its sources make.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../src/render/html/page.html');

async function bundle(entry, options) {
  const result = await build({
    absWorkingDir: here, entryPoints: [entry], bundle: true, minify: true, charset: 'utf8', write: false,
    target: ['chrome123', 'firefox121', 'safari17.5'], legalComments: 'none', logLevel: 'warning', ...options,
  });
  return result.outputFiles[0].text.trim();
}

const sha256 = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** The hash of all that the page is made of: each name in a line, then what it contains. */
function sources() {
  const hash = createHash('sha256');
  for (const name of ['build.mjs', 'package-lock.json', ...readdirSync(join(here, 'src')).sort().map((name) => `src/${name}`)]) {
    hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  }
  return hash.digest('hex');
}

async function page() {
  // A test compares it with the sources, without Node.
  const script = `/* Sources: SHA-256 ${sources()} */\n${await bundle('src/main.ts', { format: 'iife' })}\n`;
  // The bundler keeps custom properties as they are.
  const style = (await bundle('src/page.css', {})).replace(/(--[a-z]+:|,) /g, '$1');
  const policy = [
    "default-src 'none'", `script-src '${sha256(script)}'`, `style-src '${sha256(style)}'`,
    "img-src data:", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].join('; ');
  const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
  const skeleton = readFileSync(join(here, 'src/page.html'), 'utf8');
  return skeleton.replace(/\{\{(POLICY|STYLE|SCRIPT)\}\}/g, (_, part) => parts[part]);
}

const made = await page();
if (process.argv.includes('--check')) {
  if (readFileSync(out, 'utf8') !== made) {
    console.error(`${relative(process.cwd(), out)} is not what its sources make: npm run build`);
    process.exit(1);
  }
} else {
  writeFileSync(out, made);
}
