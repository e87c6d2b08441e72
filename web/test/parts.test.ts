// The parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, START, write, type State } from '../src/app.ts';
import { grouped, use, type View } from '../src/data.ts';
import { forestOf, type Forest } from '../src/forest.ts';
import { columns, type Picture } from './columns.ts';
import { chain, findings, HOSTILE, many, object, picture, shop, siblings } from './pictures.ts';

/** The views of a picture, which is then that of the page. */
function views(picture: Picture): View[] {
  const data = columns(picture);
  use(data);
  return data.views;
}
const forest = (picture: Picture): Forest => forestOf(views(picture)[0]!, new Set());
const titles = (forest: Forest): string[] => forest.visible().map((line) => forest.cell(line, 'object'));

test('numbers are grouped', () => {
  assert.deepEqual([0, 999, 1000, 12_345_678].map(grouped), ['0', '999', '1,000', '12,345,678']);
});

test('a link keeps the state, and a broken link harms nothing', () => {
  views(shop());
  const state: State = {
    view: 'fore ground&x=1', show: 'table', at: '10-20', search: 'a b#%&=+', state: 'stuck kept', sort: '-name',
  };
  assert.deepEqual(read(`#${write(state)}`), state);
  assert.deepEqual(read(''), START);
  assert.equal(write(START), '');
  for (const hash of ['#%', '#at', '#&&&=', '#namespace', `#${HOSTILE.join('&')}`]) {
    assert.deepEqual(read(hash), START, hash);
  }
});

test('lines stand in the order of the rows, below their owners', () => {
  const lines = forest(shop());
  assert.deepEqual(titles(lines), shop().views[0]!.rows.map((row) => row.title));
  assert.deepEqual(lines.visible().map((line) => lines.level[line]), [1, 2, 2, 2, 2, 3, 3, 3, 2]);
  lines.toggle(4);
  assert.equal(titles(lines).length, 6);
  assert.equal(shop().states[lines.worst[4]!]!.name, 'stuck');
  assert.deepEqual([3, 4].map((line) => lines.end[line]), [4, 8]);
  lines.setAllOpen(false);
  assert.deepEqual(titles(lines), ['Deployment/web']);
  lines.reveal(5);
  assert.equal(titles(lines).length, 9);
});

test('many similar siblings are folded, others are not', () => {
  const lines = forest(siblings(5000));
  assert.equal(titles(lines).length, 1 + 8 + 1 + 1);
  assert.equal(titles(lines)[9], '… 4,991 more of kind Pod');
  assert.equal(titles(lines)[10], 'Pod/import-4999');
  const fold = lines.visible()[9]!;
  assert.ok(fold < 0);
  assert.equal(lines.end[0], 5001, 'a fold is no row');
  lines.setAllOpen(true);
  assert.equal(titles(lines).length, 11, 'folds stay closed when all is expanded');
  lines.toggle(fold);
  assert.equal(titles(lines).length, 5001);
  assert.equal(titles(lines)[9], 'Pod/import-8');
  lines.setAllOpen(false);
  lines.toggle(0);
  assert.equal(titles(lines).length, 11, 'all is folded again');
  lines.reveal(4000);
  assert.equal(titles(lines).length, 5001);
});

test('a fold stands where the first line in it stood', () => {
  const pictured = siblings(20);
  pictured.views[0]!.rows[12]!.fate = 'kept';
  assert.deepEqual(titles(forest(pictured)), ['Job/import', ...Array.from({ length: 8 }, (_, at) => `Pod/import-${at}`),
    '… 10 more of kind Pod', 'Pod/import-11', 'Pod/import-19']);
});

test('twelve similar siblings are shown, thirteen are folded', () => {
  // The last one is stuck.
  assert.equal(titles(forest(siblings(13))).length, 14);
  assert.equal(titles(forest(siblings(14))).length, 1 + 8 + 1 + 1);
});

test('what has something stuck below it is not folded', () => {
  const objects = Array.from({ length: 40 }, (_, at) => object(at % 2 ? 'Pod' : 'Job', `import-${at >> 1}`));
  const rows = objects.map(({ kind, name }, at) => ({
    object: at, title: `${kind}/${name}`, fate: at === 31 ? 'stuck' : 'deleted', ...(at % 2 ? { parent: at - 1 } : {}),
  }));
  const lines = forest(picture({ objects, views: [{ name: '', rows }] }));
  assert.deepEqual(titles(lines).slice(-3), ['… 11 more of kind Job', 'Job/import-15', 'Pod/import-15']);
  lines.toggle(lines.visible()[16]!);
  assert.equal(titles(lines).length, 40, 'what was folded is open');
});

test('a chain of 100,000 owners is walked without recursion', () => {
  const lines = forest(chain(100_000));
  assert.ok(lines.visible().length <= 401);
  const last = lines.lineOf[99_999]!;
  assert.equal(lines.level[last], 100_000);
  assert.equal(lines.end[0], 100_000);
  lines.reveal(last);
  assert.equal(lines.visible().length, 100_000);
  lines.filter('link-99999', '');
  assert.equal(lines.found, 1);
});

test('a large forest is open only as far as there is room', () => {
  const lines = forest(many(100_000)).visible();
  assert.ok(lines.length <= 400, String(lines.length));
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
  const find = (search: string, state = ''): string[] => {
    lines.filter(search, state);
    return lines.visible().map((line) => (lines.matches[line] ? '' : '^') + lines.cell(line, 'object'));
  };
  const stuck = ['^Deployment/web', '^ReplicaSet/web-6d5f8c7b94', 'Pod/web-6d5f8c7b94-x2lqp'];
  assert.deepEqual(find('', 'stuck'), stuck);
  assert.deepEqual(find('POD drain'), stuck);
  assert.deepEqual(find('pod', 'stuck kept'), stuck);
  assert.deepEqual(find('configmap/ elsewhere'), ['^Deployment/web', 'ConfigMap/web-dashboard -n elsewhere']);
  assert.deepEqual(find('web kept'), ['^Deployment/web', 'ConfigMap/shop-settings']);
  assert.deepEqual(find('.*'), []);
  assert.equal(find('', 'no such state').length, 9);
});

test('findings are lines without objects', () => {
  const lines = forest(findings());
  assert.equal(titles(lines).length, 7);
  assert.equal(lines.lineOf[0], 1);
  assert.equal(lines.lineOf[4], -1);
  assert.equal(lines.own(0), -1);
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
  assert.equal(lines.own(0), -1);
  assert.equal(lines.lineOf[0], 1);
  assert.equal(lines.lineOf[1], 2);
});

test('what is closed is so under each policy', () => {
  const closed = new Set<number>();
  const [background, foreground] = views(shop()).map((view) => forestOf(view, closed));
  background!.toggle(4);
  assert.equal(titles(foreground!).length, 6);
  foreground!.setAllOpen(true);
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
