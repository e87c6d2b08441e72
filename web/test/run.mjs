// Runs the tests: `node test/run.mjs [NAME]`, or `node test/run.mjs look FOLDER` for screenshots to look at.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const [what, ...rest] = process.argv.slice(2);
const names = what === 'look' ? ['look.ts'] : readdirSync('test').filter((name) => name.endsWith('.test.ts'));
// Beside node_modules, so that the tests find them.
const folder = mkdtempSync(join('node_modules', '.tests-'));
try {
  await build({
    entryPoints: names.map((name) => join('test', name)), outdir: folder, outExtension: { '.js': '.mjs' },
    bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'warning', sourcemap: 'inline',
  });
  const files = names.map((name) => join(folder, name.replace(/\.ts$/, '.mjs')));
  const only = what === undefined || what === 'look' ? [] : [`--test-name-pattern=${what}`];
  const args = what === 'look' ? [...files, ...rest] : ['--test', '--test-concurrency=1', ...only, ...files];
  process.exitCode = spawnSync(process.execPath, ['--enable-source-maps', ...args], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
