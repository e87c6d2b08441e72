// The parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, START, write, type State } from '../src/app.ts';
import { grouped, use, type View } from '../src/data.ts';
import { visible } from '../src/dom.ts';
import { changes, forestOf, type Forest } from '../src/forest.ts';
import { columns, type Picture } from './columns.ts';
import { chain, findings, HOSTILE, many, object, picture, shop, siblings } from './pictures.ts';

/** The views of a picture, which is then that of the page. */
function views(picture: Picture): View[] {
  const data = columns(picture);
  use(data);
  return data.views;
}
const forest = (picture: Picture): Forest => forestOf(views(picture)[0]!);
const titles = (forest: Forest): string[] => forest.visible().map(forest.title);

test('what does not print is escaped as in Rust', () => {
  const cases: [string, string][] = [
    ['web-1', 'web-1'], ['a b', 'a b'], ['a\u00a0b', 'a\\u{a0}b'], ['\u202e', '\\u{202e}'], ['\0', '\\0'],
    ['\x1b[31m', '\\u{1b}[31m'], ['\n\t\r', '\\n\\t\\r'], ['\x7f', '\\u{7f}'], ['\u{e0001}', '\\u{e0001}'],
    ['\ud800', '\\u{d800}'], ['字 é 😀', '字 é 😀'], ['\\n', '\\n'], ['\ufeff', '\\u{feff}'], ['\u2028', '\\u{2028}'],
  ];
  for (const [text, wanted] of cases) assert.equal(visible(text), wanted);
  for (const text of HOSTILE) assert.doesNotMatch(visible(text), /[\p{C}\p{Zl}\p{Zp}]/u);
});

test('numbers are grouped', () => {
  assert.deepEqual([0, 999, 1000, 12_345_678].map(grouped), ['0', '999', '1,000', '12,345,678']);
});

test('a link keeps the state, and a broken link harms nothing', () => {
  views(shop());
  const state: State = {
    view: 'fore ground&x=1', show: 'table', at: '10-20', search: 'a b#%&=+', state: 'stuck kept', kind: 'Pod',
    namespace: '-', sort: '-name',
  };
  assert.deepEqual(read(`#${write(state)}`), state);
  assert.deepEqual(read(''), START);
  assert.equal(write(START), '');
  for (const hash of ['#%', '#at', '#&&&=', '#show=x&sort=-x&state=x', '#namespace', `#${HOSTILE.join('&')}`]) {
    const { show, sort, state } = read(hash);
    assert.deepEqual([show, sort, state], ['', '', ''], hash);
  }
});

test('lines stand in the order of the rows, below their owners', () => {
  const lines = forest(shop());
  assert.deepEqual(titles(lines), shop().views[0]!.rows.map((row) => row.title));
  assert.deepEqual(lines.visible().map((line) => lines.level[line]), [1, 2, 2, 2, 2, 3, 3, 3, 2]);
  lines.setOpen(4, false);
  assert.equal(titles(lines).length, 6);
  assert.equal(shop().states[lines.below(4).worst]!.name, 'stuck');
  assert.equal(lines.below(4).lines.length, 3);
  assert.equal(lines.below(3).lines.length, 0);
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
  assert.ok(lines.folds[fold]);
  assert.equal(lines.below(fold).lines.length, 4991);
  assert.equal(lines.below(0).lines.length, 5000, 'a fold is no row');
  lines.setOpen(fold, true);
  assert.equal(titles(lines).length, 5002);
  assert.equal(lines.level[lines.visible()[10]!], 3);
  lines.setAllOpen(true);
  assert.equal(titles(lines).length, 11, 'folds stay closed when all is expanded');
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

test('a chain of 100,000 owners is walked without recursion', () => {
  const lines = forest(chain(100_000));
  assert.ok(lines.visible().length <= 400);
  const last = lines.lineOf[99_999]!;
  assert.equal(lines.level[last], 100_000);
  assert.equal(lines.below(0).lines.length, 99_999);
  lines.reveal(last);
  assert.equal(lines.visible().length, 100_000);
  lines.filter({ ...START, search: 'link-99999' });
  assert.equal(lines.found, 1);
});

test('a large forest is open only as far as there is room', () => {
  const lines = forest(many(100_000)).visible();
  assert.ok(lines.length <= 400, String(lines.length));
});

test('a row that names an impossible owner is a root', () => {
  const objects = [object('Pod', 'a'), object('Pod', 'b')];
  for (const parent of [0, 1, 7, -1]) {
    const rows = objects.map((_, at) => ({ object: at, title: `r${at}`, fate: 'untouched', ...(at === 0 ? { parent } : {}) }));
    assert.deepEqual(titles(forest(picture({ objects, views: [{ name: '', rows }] }))), ['r0', 'r1'], String(parent));
  }
});

test('a filter keeps what matches and what that stands below', () => {
  const lines = forest(shop());
  const find = (filter: Partial<State>): string[] => {
    lines.filter({ ...START, ...filter });
    return lines.visible().map((line) => (lines.matches[line] ? '' : '^') + lines.title(line));
  };
  const stuck = ['^Deployment/web', '^ReplicaSet/web-6d5f8c7b94', 'Pod/web-6d5f8c7b94-x2lqp'];
  assert.deepEqual(find({ state: 'stuck' }), stuck);
  assert.deepEqual(find({ search: 'POD drain' }), stuck);
  assert.deepEqual(find({ kind: 'ConfigMap', namespace: 'elsewhere' }),
    ['^Deployment/web', 'ConfigMap/web-dashboard -n elsewhere']);
  assert.deepEqual(find({ search: 'web kept' }), ['^Deployment/web', 'ConfigMap/shop-settings']);
  assert.deepEqual(find({ namespace: '-' }), []);
  assert.deepEqual(find({ search: '.*' }), []);
});

test('findings are lines without objects', () => {
  const lines = forest(findings());
  assert.equal(titles(lines).length, 7);
  assert.equal(lines.lineOf[0], 1);
  assert.equal(lines.lineOf[4], -1);
  assert.equal(lines.own(0), -1);
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

test('another policy says what it changes', () => {
  const [background, foreground, orphan] = views(shop()).map(forestOf);
  const changed = (before: Forest, after: Forest): [number, string][] =>
    changes(before, after).map((object) => [object, before.endOf(object).word]);
  assert.deepEqual(changed(background!, foreground!), [[0, 'deleted'], [4, 'deleted']]);
  assert.equal(changed(foreground!, orphan!).filter(([object]) => orphan!.lineOf[object]! < 0).length, 3);
  assert.deepEqual(changed(orphan!, orphan!), []);
});

test('a row that points elsewhere is not the row of its object', () => {
  const objects = [object('Pod', 'a')];
  const rows = [
    { object: 0, title: 'Pod/a', points: true, fate: 'untouched' },
    { object: 0, title: 'Pod/a', fate: 'untouched' },
  ];
  assert.equal(forest(picture({ objects, views: [{ name: '', rows }] })).lineOf[0], 1);
});
