// Screenshots of the page, to look at.
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { launch, open } from './page.ts';
import { chain, cycle, empty, findings, hostile, many, shop, siblings } from './pictures.ts';

const folder = process.argv[2] ?? 'screenshots';
const wanted = process.argv[3];
mkdirSync(folder, { recursive: true });
const browser = await launch();
const narrow = { viewport: { width: 390, height: 844 } };
const dark = { colorScheme: 'dark' as const };
const pod = '#at=10000000-0000-4000-8000-000000000006';
const shots = [
  ['shop', shop(), {}, ''],
  ['shop-story', shop(), {}, pod],
  ['shop-dark', shop(), dark, pod],
  ['shop-orphan', shop(), dark, '#view=foreground'],
  ['shop-table', shop(), {}, '#show=table&sort=-state'],
  ['shop-beside', shop(), {}, '#beside=table'],
  ['shop-phone', shop(), narrow, ''],
  ['shop-phone-story', shop(), { ...narrow, ...dark }, pod],
  ['shop-phone-table', shop(), narrow, '#show=table'],
  ['shop-search', shop(), {}, '#search=web-6d'],
  ['findings', findings(), {}, '#at=row-0'],
  ['many', many(5000), {}, ''],
  ['cycle', cycle(), {}, ''],
  ['hostile', hostile(), {}, ''],
  ['siblings', siblings(5000), {}, ''],
  ['chain', chain(1000), {}, ''],
  ['empty', empty(), {}, ''],
] as const;
const files = process.argv.slice(4).map((file) => [basename(file, '.html'), readFileSync(file, 'utf8'), {}, ''] as const);
for (const [name, picture, options, hash] of [...shots, ...files]) {
  if (wanted && !name.includes(wanted) && !files.some(([file]) => file === name)) continue;
  const { page, complaints, close } = await open(browser, picture, options, hash);
  if (name === 'shop-orphan') await page.click('text=orphan');
  await page.screenshot({ path: join(folder, `${name}.png`) });
  if (name === 'shop' || name === 'many') await page.pdf({ path: join(folder, `${name}.pdf`), format: 'A4' });
  if (complaints.length > 0) console.log(name, complaints.slice(0, 5));
  await close();
}
await browser.close();
