// The parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grouped, use, type View } from '../src/data.ts';
import { forestOf, type Forest } from '../src/forest.ts';
import { columns, type Picture } from './columns.ts';
import { chain, findings, many, object, picture, shop, siblings } from './pictures.ts';

/** The views of a picture, which is then that of the page. */
function views(picture: Picture): View[] {
  const data = columns(picture);
  use(data);
  return data.views;
}
/** The lines of a view, all of them found. */
function whole(view: View, closed = new Set<number>()): Forest {
  const lines = forestOf(view, closed);
  lines.filter('', '');
  return lines;
}
const forest = (picture: Picture): Forest => whole(views(picture)[0]!);
const titles = (forest: Forest): string[] => forest.visible().map((line) => forest.said(line).object);

test('numbers are grouped', () => {
  assert.deepEqual([0, 999, 1000, 12_345_678].map(grouped), ['0', '999', '1,000', '12,345,678']);
});

test('lines stand in the order of the rows, below their owners', () => {
  const lines = forest(shop());
  assert.deepEqual(titles(lines), shop().views[0]!.rows.map((row) => row.title));
  assert.deepEqual(lines.visible().map((line) => lines.level[line]), [1, 2, 2, 2, 2, 3, 3, 3, 2]);
  lines.toggle(4);
  assert.equal(titles(lines).length, 6);
  assert.equal(shop().states[lines.worst[4]!]!.name, 'stuck');
  assert.deepEqual([3, 4].map((line) => lines.end[line]), [4, 8]);
  lines.toggle(0);
  assert.deepEqual(titles(lines), ['Deployment/web']);
  lines.reveal(5);
  assert.equal(titles(lines).length, 9);
});

test('many similar siblings are folded, others are not', () => {
  const lines = forest(siblings(5000));
  assert.deepEqual(titles(lines), [
    'Job/import', 'Pod/import-0', 'Pod/import-1', 'Pod/import-2', '4,996 more like this: Pod', 'Pod/import-4999',
  ]);
  const fold = lines.visible()[4]!;
  assert.ok(fold < 0);
  assert.equal(lines.end[0], 5001, 'a fold is no row');
  lines.toggle(fold);
  assert.equal(titles(lines).length, 5001);
  assert.equal(titles(lines)[4], 'Pod/import-3');
  const others = forest(siblings(5000));
  others.reveal(4000);
  assert.equal(titles(others).length, 5001);
});

test('a fold stands where the first line in it stood', () => {
  const pictured = siblings(20);
  pictured.views[0]!.rows[12]!.fate = 'kept';
  assert.deepEqual(titles(forest(pictured)), ['Job/import', ...Array.from({ length: 3 }, (_, at) => `Pod/import-${at}`),
    '15 more like this: Pod', 'Pod/import-11', 'Pod/import-19']);
});

test('twelve similar siblings are shown, thirteen are folded', () => {
  // The last one is stuck.
  assert.equal(titles(forest(siblings(13))).length, 14);
  assert.equal(titles(forest(siblings(14))).length, 1 + 3 + 1 + 1);
});

test('what has something below it is not folded', () => {
  const objects = Array.from({ length: 40 }, (_, at) => object(at % 2 ? 'Pod' : 'Job', `import-${at >> 1}`));
  const rows = objects.map(({ kind, name }, at) => ({
    object: at, title: `${kind}/${name}`, fate: at === 31 ? 'stuck' : 'deleted', ...(at % 2 ? { parent: at - 1 } : {}),
  }));
  const lines = forest(picture({ objects, views: [{ name: '', rows }] }));
  assert.equal(titles(lines).length, 40);
});

test('a chain of 100,000 owners is walked without recursion', () => {
  const lines = forest(chain(100_000));
  assert.equal(lines.visible().length, 1);
  const last = lines.lineOf[99_999]!;
  assert.equal(lines.level[last], 100_000);
  assert.equal(lines.end[0], 100_000);
  lines.reveal(last);
  assert.equal(lines.visible().length, 100_000);
  lines.filter('link-99999', '');
  assert.equal(lines.found, 1);
});

test('a large forest is open only where something needs attention', () => {
  const lines = forest(many(100_000));
  const isBad = (line: number): boolean => lines.worst[line]! < 6;
  for (const line of lines.visible()) {
    assert.equal(lines.isOpen(line) ?? isBad(line), isBad(line), lines.said(line).object);
  }
  assert.ok(lines.visible().filter(isBad).length > 100);
});

test('a row that names an impossible owner is a root', () => {
  const objects = [object('Pod', 'a'), object('Pod', 'b')];
  for (const parent of [0, 7]) {
    const rows = objects.map((_, at) => ({ object: at, title: `r${at}`, fate: 'untouched', ...(at === 0 ? { parent } : {}) }));
    assert.deepEqual(titles(forest(picture({ objects, views: [{ name: '', rows }] }))), ['r0', 'r1'], String(parent));
  }
});

test('a filter keeps what matches and what that stands below', () => {
  const lines = forest(shop());
  const find = (search: string, ...states: string[]): string[] => {
    const off = shop().states.map(({ name }) => name).filter((name) => states.length > 0 && !states.includes(name));
    lines.filter(search, off.join(' '));
    return lines.visible().map((line) => (lines.shown[line] === 2 ? '' : '^') + lines.said(line).object);
  };
  const stuck = ['^Deployment/web', '^ReplicaSet/web-6d5f8c7b94', 'Pod/web-6d5f8c7b94-x2lqp'];
  assert.deepEqual(find('', 'stuck'), stuck);
  assert.deepEqual(find('POD drain'), stuck);
  assert.deepEqual(find('pod', 'stuck', 'kept'), stuck);
  assert.deepEqual(find('configmap/ elsewhere'), ['^Deployment/web', 'ConfigMap/web-dashboard -n elsewhere']);
  assert.deepEqual(find('web kept'), ['^Deployment/web', 'ConfigMap/shop-settings']);
  assert.deepEqual(find('.*'), []);
  lines.filter('', 'no such state');
  assert.equal(lines.found, 9);
});

test('findings are lines without objects', () => {
  const lines = forest(findings());
  assert.equal(titles(lines).length, 7);
  assert.equal(lines.lineOf[0], 1);
  assert.equal(lines.lineOf[4], -1);
  lines.filter('undefined', '');
  assert.equal(lines.found, 0);
});

test('a line that stands for several objects is none of them', () => {
  const objects = [object('Pod', 'a'), object('Pod', 'b')];
  const rows = [
    { object: 0, title: '… 2 more Pods', more: 2, fate: 'deleted' },
    { object: 0, title: 'Pod/a', fate: 'kept' },
    { object: 1, title: '… 5 more Pods', more: 5, fate: 'deleted' },
  ];
  const lines = forest(picture({ objects, views: [{ name: '', rows }] }));
  assert.deepEqual(titles(lines), rows.map((row) => row.title));
  assert.deepEqual([...lines.lineOf], [1, -1]);
});

test('what is closed is so under each policy', () => {
  const closed = new Set<number>();
  const [background, foreground] = views(shop()).map((view) => whole(view, closed));
  background!.toggle(4);
  assert.equal(titles(foreground!).length, 6);
  closed.clear();
  assert.equal(titles(background!).length, 9);
});

test('a row that points elsewhere is not the row of its object', () => {
  const objects = [object('Pod', 'a')];
  const rows = [
    { object: 0, title: 'Pod/a', points: true, fate: 'untouched' },
    { object: 0, title: 'Pod/a', fate: 'untouched' },
  ];
  assert.equal(forest(picture({ objects, views: [{ name: '', rows }] })).lineOf[0], 1);
});
