// Writes the template of `kubectl gc -o html`: one file with script, style and a policy that forbids everything else.
// `node build.mjs --check` writes nothing, and fails if the file differs from what its sources make.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../src/render/html/page.html');

/** The licences of the packages in the page, each text once. They go round with it. */
function licences(metafile) {
  const packages = new Map();
  for (const input of Object.keys(metafile.inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name === undefined || packages.has(name)) continue;
    packages.set(name, readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim());
  }
  const texts = new Map();
  for (const [name, text] of [...packages].sort()) texts.set(text, [...(texts.get(text) ?? []), name]);
  return [...texts].map(([text, names]) => `${names.join(', ')}:\n${text}`).join('\n\n');
}

async function bundle(entry, options) {
  const result = await build({
    absWorkingDir: here, entryPoints: [entry], bundle: true, minify: true, write: false, metafile: true,
    target: ['chrome100', 'firefox100', 'safari15.4'], legalComments: 'none', logLevel: 'warning', ...options,
  });
  return { text: result.outputFiles[0].text.trim(), metafile: result.metafile };
}

const sha256 = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

async function page() {
  const { text, metafile } = await bundle('src/main.ts', { format: 'iife' });
  const script = `/*\n${licences(metafile)}\n*/\n${text}\n`;
  const style = (await bundle('src/page.css', {})).text;
  const policy = [
    "default-src 'none'", `script-src '${sha256(script)}'`, `style-src '${sha256(style)}'`,
    "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
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
