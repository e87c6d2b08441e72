// What the reader has chosen, and what is shown of it. A link keeps it behind the # of the address, so that it works
// for a file, too.
import { data, fateOf, textOf, use, words, type Data } from './data.ts';
import { forestOf, UNFILTERED, type Forest } from './forest.ts';

/** The columns of the table. */
export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail', 'created'] as const;
export type Column = (typeof COLUMNS)[number] | 'object';

export const START = {
  /** The name of the policy; empty for the view that was asked for. */
  view: '',
  /** `table`; empty for the tree. */
  show: '',
  /** An object as `kind/namespace/name`, or `row-N` for a line without one. */
  at: '',
  ...UNFILTERED,
  /** A column; `-COLUMN` sorts down; empty for the order of the tree. */
  sort: '',
};
export type State = typeof START;

export const FILTERS = Object.keys(UNFILTERED) as (keyof typeof UNFILTERED)[];

export function write(state: State): string {
  return new URLSearchParams(Object.entries(state).filter(([, value]) => value)).toString();
}

/** Reads a link. What it doesn't know it leaves out: a link may be cut, or made by hand. */
export function read(hash: string): State {
  const parts = new URLSearchParams(hash.slice(1));
  const state = { ...START };
  for (const name of Object.keys(START) as (keyof State)[]) state[name] = parts.get(name) ?? '';
  if (state.show !== 'table') state.show = '';
  if (!columnOf(state)) state.sort = '';
  state.state = words(state.state).filter((name) => fateOf(name) >= 0).join(' ');
  return state;
}

/** What the table is sorted by. */
const columnOf = ({ sort }: State): Column | undefined => COLUMNS.find((column) => column === sort.replace('-', ''));

// What is shown now; only this module changes it.
export let state = START;
/** The lines of each view. */
export let forests: Forest[];
/** The lines of the view that is shown. */
export let forest: Forest;
/** The lines of the policy that was shown before. */
export let compared: Forest | undefined;
/** The selected object, and its line; without one, -1. */
export let object = -1;
export let line = -1;
/** The lines of the list. */
export let lines: number[] = [];

export const isTable = (): boolean => state.show === 'table';

/** What shows all this; `before` is what was chosen before. */
type Show = (before: State | undefined) => void;
let draw: Show;

export function load(picture: Data): void {
  use(picture);
  forests = data.views.map(forestOf);
}

/** Shows what the address says, now and whenever it changes. */
export function start(show: Show): void {
  draw = show;
  addEventListener('hashchange', () => change(read(location.hash), state));
  change(read(location.hash), undefined);
}

/** Changes what is shown. A step is one that the browser's back button takes back. */
export function go(to: Partial<State>, isStep = true): void {
  const before = state;
  change({ ...before, ...to }, before);
  const hash = write(state);
  if (hash === write(before)) return;
  try {
    history[isStep ? 'pushState' : 'replaceState'](null, '', `#${hash}`);
  } catch {
    // A frame may forbid it: the page works without a link.
  }
}

function change(to: State, before: State | undefined): void {
  state = to;
  const now = forests.find(({ view }) => view.name === state.view) ?? forests[data.shown]!;
  const isOther = now !== forest;
  if (isOther) {
    compared = forest;
    forest = now;
    if (compared) forest.openAs(compared);
  }
  if (isOther || FILTERS.some((name) => state[name] !== before?.[name])) forest.filter(state);
  [object, line] = find(state.at);
  if (state.at !== before?.at) forest.reveal(line);
  lines = isTable() ? sorted() : forest.visible();
  draw(before);
}

/** The lines of the table: each object once, sorted if it is wanted. */
function sorted(): number[] {
  const once = new Set<number>();
  for (let line = 0; line < forest.size; line++) {
    if (!forest.matches[line]) continue;
    // An object with several owners may stand in several lines: its first one is better.
    const own = forest.lineOf[forest.own(line)] ?? line;
    once.add(forest.matches[own] ? own : line);
  }
  const column = columnOf(state);
  if (!column) return [...once];
  const sign = state.sort.startsWith('-') ? -1 : 1;
  const keyed = [...once].map((line) => {
    // A letter for each state: what needs attention most is the first.
    const rank = column === 'state' ? String.fromCharCode(65 + forest.fate(line)) : '';
    return { line, key: rank + cell(line, column) };
  });
  // What has no value comes last in both directions.
  keyed.sort(({ key: a }, { key: b }) => Number(!a) - Number(!b) || (a < b ? -sign : a > b ? sign : 0));
  return keyed.map(({ line }) => line);
}

/** What a column shows of a line. */
export function cell(line: number, column: Column): string {
  switch (column) {
    case 'object': return forest.title(line);
    case 'state': return forest.word(line);
    case 'name': return data.objects.name[forest.own(line)] ?? forest.title(line);
    case 'detail': return forest.detail(line);
    default: return textOf(data.objects[column], forest.object(line));
  }
}

/** Names of API servers; others, from a dump, might not come through a link as they are. */
const PLAIN = /^[a-z0-9]{1,63}(\/[a-z0-9.:-]{0,253}){2}$/;

/** How a link names an object: so it fits tomorrow's page, too. */
function placeOf(object: number): string {
  const { kind, namespace, name } = data.objects;
  return `${textOf(kind, object).toLowerCase()}/${textOf(namespace, object)}/${name[object]}`;
}

/** The object and the line that a link names; without one, -1. */
function find(at: string): [object: number, line: number] {
  const [, row, number] = /^(?:row-(\d+)|object-(\d+))$/.exec(at) ?? [];
  const ofRow = forest.lineOfRow[Number(row)];
  if (ofRow !== undefined) return [forest.own(ofRow), ofRow];
  const object = PLAIN.test(at) ? data.objects.name.findIndex((_, object) => placeOf(object) === at) : Number(number);
  const line = forest.lineOf[object];
  return line === undefined ? [-1, -1] : [object, line];
}

/** Selects a line. */
export function select(line: number, isStep = true): void {
  const object = forest.own(line);
  if (object < 0) go({ at: `row-${forest.row[line]}` }, isStep);
  else selectObject(object, isStep);
}

export function selectObject(object: number, isStep = true): void {
  const place = placeOf(object);
  go({ at: find(place)[0] === object ? place : `object-${object}` }, isStep);
}

/** The next line after the selected one that needs attention most. */
export function nextWorst(): number | undefined {
  const bad = [fateOf('stuck'), fateOf('error')];
  for (let step = 1; step <= forest.size; step++) {
    const at = (line + step) % forest.size;
    if (forest.matches[at] && (bad.includes(forest.fate(at)) || forest.loses(at))) return at;
  }
  return undefined;
}
