// What the reader has chosen, and what is shown of it. A link keeps it behind the # of the address, so that it works
// for a file, too. Only this module changes it.
import { data, fateOf, textOf, use, type Data } from './data.ts';
import { COLUMNS, forestOf, type Forest } from './forest.ts';

/** A browser lays out no more lines on paper in a time that a person waits for. */
export const MOST_PRINTED = 3000;

export const START = {
  /** The name of the policy; empty for the view that was asked for. */
  view: '',
  /** `table`; empty for the tree. */
  show: '',
  /** An object as `kind/namespace/name`, or `row-N` for a line without one. */
  at: '',
  /** Words to look for. */
  search: '',
  /** Names of states. */
  state: '',
  /** A column of the table; `-COLUMN` sorts down; empty for the order of the tree. */
  sort: '',
};
export type State = typeof START;

export function write(state: State): string {
  return new URLSearchParams(Object.entries(state).filter(([, value]) => value)).toString();
}

/** Reads a link, which may be cut, or made by hand. */
export function read(hash: string): State {
  const parts = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(Object.keys(START).map((name) => [name, parts.get(name) ?? ''])) as State;
}

export let state = START;
/** The lines of each view, and of the one that is shown. */
export let forests: Forest[];
export let forest: Forest;
/** The selected object, and its line; without one, -1. */
export let object = -1;
export let line = -1;
/** The lines to show. */
export let lines: number[] = [];
/** The page is printed. */
export let isPaper = false;

/** How a link names each object, so that it fits tomorrow's page, too; a second one of that name by its number. */
const places = new Map<string, number>();
export let placeOf: string[];
/** Shows all this; `before` is what was chosen before. */
let draw: (before: State | undefined) => void;

export const isTable = (): boolean => state.show === 'table';

/** Shows of a picture what the address says, now and whenever it changes. */
export function start(picture: Data, show: typeof draw): void {
  use(picture);
  draw = show;
  const closed = new Set<number>();
  forests = data.views.map((view) => forestOf(view, closed));
  const { kind, namespace, name } = data.objects;
  name.forEach((name, at) => {
    const place = `${textOf(kind, at).toLowerCase()}/${textOf(namespace, at)}/${name}`;
    places.set(places.has(place) ? `object-${at}` : place, at);
  });
  placeOf = [...places.keys()];
  addEventListener('hashchange', () => change(read(location.hash), state));
  change(read(location.hash));
}

/** Changes what is shown. A step is one that the browser's back button takes back. */
export function go(to: Partial<State>, isStep = true): void {
  const before = write(state);
  change({ ...state, ...to }, state);
  const hash = write(state);
  if (hash === before) return;
  try {
    history[isStep ? 'pushState' : 'replaceState'](null, '', `#${hash}`);
  } catch {
    // A frame may forbid it: the page works without a link.
  }
}

function change(to: State, before?: State): void {
  const shown = forest;
  state = to;
  forest = forests.find(({ view }) => view.name === state.view) ?? forests[data.shown]!;
  const isFiltered = state.search !== before?.search || state.state !== before.state;
  if (isFiltered || forest !== shown) forest.filter(state.search, state.state);
  const known = places.get(state.at);
  const row = Number(/^row-(\d+)$/.exec(state.at)?.[1] ?? -1);
  line = known !== undefined ? forest.lineOf[known]! : row < forest.size ? row : -1;
  object = known ?? forest.own(line);
  if (state.at !== before?.at) forest.reveal(line);
  lines = isTable() ? table() : forest.visible(isPaper && forest.size <= MOST_PRINTED);
  draw(before);
}

/** Shows everything for paper, or what is open if that is too much; and what is open again. */
export function print(isNow: boolean): void {
  isPaper = isNow;
  change(state, state);
}

/** The lines of the table: each object once, sorted if it is wanted. */
function table(): number[] {
  const isFirst = (line: number): boolean => (forest.lineOf[forest.own(line)] ?? line) === line;
  const once = [...forest.matches.keys()].filter((line) => forest.matches[line] && isFirst(line));
  const column = COLUMNS.find((column) => column === state.sort.replace('-', ''));
  if (!column) return once;
  const sign = state.sort.startsWith('-') ? -1 : 1;
  const keys: string[] = [];
  // Of states, what needs attention most is the first: a letter for each.
  for (const line of once) {
    keys[line] = column === 'state' ? String.fromCharCode(65 + forest.fate(line)) : forest.cell(line, column);
  }
  // What has no value comes last in both directions.
  const compare = (a: string, b: string): number => Number(!a) - Number(!b) || (a < b ? -sign : a > b ? sign : 0);
  return once.sort((a, b) => compare(keys[a]!, keys[b]!));
}

/** Selects a line, or opens it if it stands for others. */
export function select(line: number, isStep = true): void {
  if (line < 0) toggle(line);
  else go({ at: placeOf[forest.own(line)] ?? `row-${line}` }, isStep);
}

export function toggle(line: number): void {
  forest.toggle(line);
  go({});
}

/** The next line after the selected one that needs attention most. */
export function nextWorst(): number | undefined {
  const bad = [fateOf('stuck'), fateOf('error')];
  const after = Array.from({ length: forest.size }, (_, step) => (line + 1 + step) % forest.size);
  return after.find((at) => forest.matches[at] && (bad.includes(forest.fate(at)) || forest.loses(at)));
}
