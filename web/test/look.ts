// Screenshots of the page, to look at: `node test/run.mjs look FOLDER [PAGE.html …]`.
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { launch, open } from './page.ts';
import { chain, cycle, empty, findings, hostile, many, shop, siblings } from './pictures.ts';

const [folder = 'screenshots', ...files] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
const pod = '#o=pod/shop/web-6d5f8c7b94-x2lqp';
const shots: [name: string, page: Parameters<typeof open>[1], hash: string][] = [
  ['shop', shop(), ''], ['shop-story', shop(), pod], ['shop-foreground', shop(), '#p=foreground'],
  ['shop-table', shop(), '#v=table&sort=-state'], ['shop-search', shop(), '#q=web-6d'],
  ['findings', findings(), '#o=row-0'], ['many', many(5000), ''], ['cycle', cycle(), ''], ['hostile', hostile(), ''],
  ['siblings', siblings(5000), ''], ['chain', chain(1000), ''], ['empty', empty(), ''],
  ...files.map((file) => [basename(file, '.html'), readFileSync(file, 'utf8'), ''] satisfies typeof shots[number]),
];
for (const [name, content, hash] of shots) {
  for (const [width, height] of [[1280, 800], [400, 844], [360, 740]] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const options = { viewport: { width, height }, colorScheme };
      const { page, complaints, close } = await open(browser, content, options, hash);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      if (width === 1280 && colorScheme === 'light') {
        await page.pdf({ path: join(folder, `${name}.pdf`), format: 'A4' });
        await page.emulateMedia({ media: 'print' });
        await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
        await page.screenshot({ path: join(folder, `${name}-paper.png`), fullPage: true });
      }
      if (complaints.length > 0) console.log(name, complaints.slice(0, 5));
      await close();
    }
  }
}
await browser.close();
