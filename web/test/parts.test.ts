// The parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { App } from '../src/app.ts';
import { grouped, visible } from '../src/dom.ts';
import { Forest, matcher } from '../src/forest.ts';
import type { View } from '../src/picture.ts';
import { read, START, write, type State } from '../src/state.ts';
import { chain, findings, HOSTILE, many, object, picture, shop, siblings } from './pictures.ts';

const titles = (forest: Forest): string[] => forest.visible().map((line) => line.row.title);

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
  const forest = new Forest(shop(), shop().views[0]!);
  assert.deepEqual(titles(forest), shop().views[0]!.rows.map((row) => row.title));
  const lines = forest.visible();
  assert.deepEqual(lines.map((line) => line.level), [1, 2, 2, 2, 2, 3, 3, 3, 2]);
  forest.setOpen(lines[4]!, false);
  assert.equal(titles(forest).length, 6);
  assert.equal(forest.trouble(lines[4]!), 'stuck');
  assert.equal(lines[4]!.below, 3);
  assert.equal(forest.trouble(lines[3]!), undefined);
  forest.setAllOpen(false);
  assert.deepEqual(titles(forest), ['Deployment/web']);
  forest.reveal(lines[5]!);
  assert.equal(titles(forest).length, 9);
});

test('many similar siblings are folded, others are not', () => {
  const forest = new Forest(siblings(5000), siblings(5000).views[0]!);
  const lines = titles(forest);
  assert.equal(lines.length, 1 + 8 + 1 + 1);
  assert.equal(lines[9], '… 4,991 more of kind Pod');
  assert.equal(lines[10], 'Pod/import-4999');
  const fold = forest.visible()[9]!;
  assert.ok(fold.isFold);
  forest.setOpen(fold, true);
  assert.equal(titles(forest).length, 5002);
  assert.equal(forest.visible()[10]!.level, 3);
  forest.setAllOpen(true);
  assert.equal(titles(forest).length, 11, 'folds stay closed when all is expanded');
});

test('twelve similar siblings are shown, thirteen are folded', () => {
  // The last one is stuck.
  assert.equal(titles(new Forest(siblings(13), siblings(13).views[0]!)).length, 14);
  assert.equal(titles(new Forest(siblings(14), siblings(14).views[0]!)).length, 1 + 8 + 1 + 1);
});

test('a chain of 100,000 owners is walked without recursion', () => {
  const long = chain(100_000);
  const forest = new Forest(long, long.views[0]!);
  assert.ok(forest.visible().length <= 400);
  const last = forest.lineOf(99_999);
  assert.equal(last.level, 100_000);
  assert.equal(forest.all[0]!.below, 99_999);
  forest.reveal(last);
  assert.equal(forest.visible().length, 100_000);
  forest.filter((line) => line === last);
  assert.equal(forest.matches, 1);
});

test('a large forest is open only as far as there is room', () => {
  const large = many(100_000);
  const forest = new Forest(large, large.views[0]!);
  assert.ok(forest.visible().length <= 400, String(forest.visible().length));
});

test('a row that names an impossible owner is a root', () => {
  const objects = [object('Pod', 'a'), object('Pod', 'b')];
  for (const parent of [0, 1, 7, -1]) {
    const rows = objects.map((_, at) => ({ object: at, title: `r${at}`, fate: 'untouched', ...(at === 0 ? { parent } : {}) }));
    const forest = new Forest(picture({ objects }), { name: '', rows });
    assert.deepEqual(titles(forest), ['r0', 'r1'], String(parent));
  }
});

test('a filter keeps what matches and what that stands below', () => {
  const plan = shop();
  const forest = new Forest(plan, plan.views[0]!);
  const find = (filter: Partial<State>): string[] => {
    forest.filter(matcher({ ...START, ...filter }));
    return forest.visible().map((line) => (line.matches ? '' : '^') + line.row.title);
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
  const diagnosis = findings();
  const forest = new Forest(diagnosis, diagnosis.views[0]!);
  assert.equal(titles(forest).length, 7);
  assert.equal(forest.lineOf(0), forest.all[1]);
  assert.ok(forest.lineOf(4).isOutside);
  assert.equal(forest.all[0]!.index, undefined);
});

test('a line that stands for several objects is none of them', () => {
  const objects = [object('Pod', 'a'), object('Pod', 'b')];
  const rows = [
    { object: 0, title: '… 2 more Pods', more: 2, fate: 'deleted' },
    { object: 0, title: 'Pod/a', fate: 'kept' },
    { object: 1, title: '… 5 more Pods', more: 5, fate: 'deleted' },
  ];
  const forest = new Forest(picture({ objects }), { name: '', rows });
  assert.equal(forest.all[0]!.index, undefined);
  assert.equal(forest.lineOf(0), forest.all[1]);
  assert.equal(forest.lineOf(1), forest.all[2]);
});

test('another policy says what it changes', () => {
  const plan = shop();
  const app = new App(plan);
  const [background, foreground, orphan] = plan.views;
  const changes = (before: View, after: View): [number, string][] => {
    app.compared = before;
    app.forest = app.forestOf(after);
    return plan.objects.flatMap((_, index): [number, string][] => {
      const was = app.before(index);
      return was === undefined ? [] : [[index, was]];
    });
  };
  assert.deepEqual(changes(background!, foreground!), [[0, 'deleted'], [4, 'deleted']]);
  assert.equal(changes(foreground!, orphan!).filter(([index]) => app.forest.lineOf(index).isOutside).length, 3);
  assert.deepEqual(changes(orphan!, orphan!), []);
});

test('a row that points elsewhere is not the row of its object', () => {
  const objects = [object('Pod', 'a')];
  const rows = [
    { object: 0, title: 'Pod/a', points: true, fate: 'untouched' },
    { object: 0, title: 'Pod/a', fate: 'untouched' },
  ];
  const forest = new Forest(picture({ objects }), { name: '', rows });
  assert.equal(forest.lineOf(0), forest.all[1]);
});
