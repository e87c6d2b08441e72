// The pages that the program writes, in Chromium.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { visible } from './columns.ts';
import { launch, open, said, type Opened } from './page.ts';
import { HOSTILE } from './pictures.ts';

let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), 'dumps-'));
before(async () => {
  const built = spawnSync('cargo', ['build', '--locked', '--quiet'], { cwd: '..', stdio: 'inherit' });
  assert.equal(built.status, 0, 'cargo build');
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** What the program prints. */
function run(...args: string[]): string {
  const { stdout, stderr } = spawnSync('cargo', ['run', '--locked', '--quiet', '--', ...args], {
    cwd: '..', encoding: 'utf8', maxBuffer: 2 ** 30,
  });
  assert.notEqual(stdout, '', stderr);
  return stdout;
}

/** Opens what the program writes, looks at everything, and closes it. */
async function look(args: string[], run_: (opened: Opened) => Promise<void>): Promise<void> {
  const opened = await open(browser, run(...args, '-o', 'html'));
  const { page, complaints, close } = opened;
  try {
    await run_(opened);
    for (const policy of await page.locator('[name=p]').all()) await policy.check();
    for (const tab of ['table', 'tree']) {
      await page.check(`#v-${tab}`);
      await page.focus(`#${tab}`);
      for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    }
    assert.equal(await page.locator('aside > h2').count(), 1);
    await page.pdf();
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
}

const SHOP = ['--from', 'examples/shop.yaml'];

test('a plan says on its page what it says as text', async () => {
  const args = ['plan', 'deployment/web', '-n', 'shop', ...SHOP];
  // Where the text has one line for several objects, the page has one for each, as -o wide.
  const text = run(...args, '-o', 'wide');
  await look(args, async ({ page }) => {
    assert.match(await page.locator('header > p').first().innerText(),
      / Made \d{4}-\d\d-\d\dT[\d:]+Z by: kubectl gc plan deployment\/web -n shop --from examples\/shop\.yaml -o html · kubectl gc \d/);
    const verdict = /^STUCK: (.*)$/m.exec(text)![1]!;
    assert.equal(await page.locator('h1').innerText(), `■ STUCK ${verdict}`);
    const titles = await page.locator('#tree .lines .title').allInnerTexts();
    const lines = text.split('\n').filter((line) => /^ {2}\S|[├└]─/.test(line));
    assert.equal(titles.length, 9);
    assert.deepEqual(titles, lines.slice(0, 9).map((line) => line.replace(/^[ │├└─]+/, '').split('  ')[0]));
    assert.equal(await page.locator('[name=p]').count(), 3);
    assert.match(await page.locator('label', { hasText: 'background' }).innerText(), /■ 1\s+STUCK\s+× 7\s+deleted/);
    const facts = await page.locator('.facts > section:visible').allInnerTexts();
    assert.deepEqual(facts.map((fact) => fact.split('\n')[0]), ['WHAT HOLDS IT UP', 'GOES', 'NEXT']);
    // All that the text says under its headings: Then with what goes, and Note in the foot.
    const said = `${facts.join(' ')} ${await page.locator('details').textContent()}`.replace(/\s+/g, ' ');
    const short = run(...args);
    const headings = short.slice(short.search(/^(Lost|Then|Note|Next)/m)).replace(/^(Lost|Then|Note|Next)/gm, '');
    for (const line of headings.split('\n').filter((line) => line.trim())) assert.ok(said.includes(line.trim()), `${line}: ${said}`);
    assert.match(facts[1]!, /^GOES\s+\d+ ReplicaSets, .*\s+Shop\/main stays/);
  });
});

test('what loses data is red, and what to do next has buttons to copy', async () => {
  await look(['plan', 'statefulset/db', '-n', 'shop', ...SHOP], async ({ page }) => {
    const claim = page.locator('#tree .lines .loses .detail').first();
    assert.match(await claim.innerText(), /DATA LOSS/);
    const red = await page.locator('h1 .pill').evaluate((word) => getComputedStyle(word).color);
    assert.equal(await claim.evaluate((detail) => getComputedStyle(detail).color), red);
    assert.match(await page.locator('#tree .lines .state').first().innerText(), /deleted/);
    assert.equal(await page.locator('#tree .lines .state .pill').count(), await page.locator('#tree .lines .state').count());
    assert.deepEqual(await page.locator('.facts .command code').allInnerTexts().then((all) => all.map((line) => line.split(' ').slice(0, 3).join(' '))),
      ['kubectl gc delete', 'kubectl patch persistentvolumes/pvc-adede329-16dc-4dad-9af2-55bbee80aba6', 'kubectl gc delete']);
  });
});

test('the page of forty objects under three policies is small', () => {
  const size = Buffer.byteLength(run('plan', 'namespace/shop', ...SHOP, '-o', 'html'));
  assert.ok(size <= 45 * 1024, `${size} bytes`);
});

test('a tree', () => look(['tree', ...SHOP], async ({ page }) => {
  assert.ok(await page.locator('#tree .lines .title', { hasText: 'Shop/main' }).count() > 0);
}));

test('a diagnosis has its remedies', () => look(['doctor', '--from', 'examples/leftovers.yaml'], async ({ page }) => {
  await page.click('#tree .lines [role=row]:has-text("owner-other-namespace")');
  assert.match(await page.locator('aside').innerText(), /kubectl patch configmaps\/api-dashboard -n elsewhere/);
}));

test('an explanation', () => look(['explain', 'pod/web-6d5f8c7b94-x2lqp', '-n', 'shop', ...SHOP], async ({ page }) => {
  assert.match(await page.locator('h1').innerText(), /^· OK nothing deletes/);
}));

/** A dump of ConfigMaps, each owned by the one before if it says so. */
function dump(name: string, names: string[], ownedBy: (at: number) => number | undefined): string {
  const uid = (at: number): string => `10000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  const items = names.map((name, at) => {
    const owner = ownedBy(at);
    return {
      apiVersion: 'v1', kind: 'ConfigMap',
      metadata: {
        name, namespace: 'shop', uid: uid(at), creationTimestamp: '2026-11-02T09:00:00Z',
        ...(owner === undefined ? {} : {
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: names[owner], uid: uid(owner) }],
        }),
      },
    };
  });
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return file;
}

test('hostile names of a dump', async () => {
  const names = HOSTILE.filter((name) => !name.includes('\ud800') && name.length < 1000);
  const file = dump('hostile.json', names, (at) => (at === 0 ? undefined : 0));
  await look(['tree', '--all-namespaces', '--from', file], async ({ page }) => {
    await page.focus('#tree');
    await page.keyboard.press('*');
    for (const fold of await page.locator('#tree .line:has-text("more like this")').all()) await fold.click();
    const titles = await page.locator('#tree .lines .title').allTextContents();
    for (const name of names) {
      assert.ok(titles.some((title) => title.includes(visible(name))), `${visible(name)}: ${titles.join(' | ')}`);
    }
    assert.doesNotMatch(await said(page), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'the program has made all of it visible');
    assert.equal(await page.locator('body script').count(), 2);
    assert.equal(await page.locator('img').count(), 0);
  });
});

test('5,000 objects, and a chain of them', async () => {
  const names = Array.from({ length: 5000 }, (_, at) => `link-${at}`);
  for (const owner of [(at: number) => (at === 0 ? undefined : 0), (at: number) => (at === 0 ? undefined : at - 1)]) {
    const file = dump('large.json', names, owner);
    await look(['tree', '--all-namespaces', '--from', file], async ({ page }) => {
      await page.fill('#search', 'link-4999');
      await page.waitForFunction(() => /^1 of/.test(document.querySelector('#found')?.textContent ?? ''));
      assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 2000);
    });
  }
});
