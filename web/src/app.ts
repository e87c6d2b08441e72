// What the reader has chosen, and what is shown of it. A link keeps it behind the # of the address, so that it works
// for a file, too.
import { data, fateOf, textOf, words } from './data.ts';
import { forestOf, type Forest } from './forest.ts';

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
  search: '',
  /** The names of the states to show; empty for all. */
  state: '',
  kind: '',
  /** `-` for what has none. */
  namespace: '',
  /** A column; `-COLUMN` sorts down; empty for the order of the tree. */
  sort: '',
};
export type State = typeof START;

export const FILTERS = ['search', 'state', 'kind', 'namespace'] as const;
export const isFiltered = (state: State): boolean => FILTERS.some((name) => state[name].trim() !== '');

export function write(state: State): string {
  return new URLSearchParams(Object.entries(state).filter(([, value]) => value !== '')).toString();
}

/** Reads a link. What it doesn't know it leaves out: a link may be cut, or made by hand. */
export function read(hash: string): State {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const state = { ...START };
  for (const name of Object.keys(START) as (keyof State)[]) state[name] = parts.get(name) ?? '';
  if (state.show !== 'table') state.show = '';
  if (!COLUMNS.some((column) => column === state.sort.replace('-', ''))) state.sort = '';
  state.state = words(state.state).filter((name) => fateOf(name) >= 0).join(' ');
  return state;
}

/** What is shown now. */
export const app = {
  state: START,
  /** Which view, and its lines. */
  view: 0,
  forest: undefined as unknown as Forest,
  /** The view of the policy that was shown before, or -1. */
  compared: -1,
  /** The selected object, and its line; without one, -1. */
  object: -1,
  line: -1,
  /** The lines of the list. */
  lines: [] as number[],
};

export const isTable = (): boolean => app.state.show === 'table';

const forests: Forest[] = [];

/** The lines of a view; made when they are first wanted. */
export function forestAt(view: number): Forest {
  return forests[view] ??= forestOf(data.views[view]!);
}

/** What shows `app`; `before` is what was shown before. */
type Show = (before: State | undefined) => void;
let draw: Show;

/** Shows what the address says, now and whenever it changes. */
export function start(show: Show): void {
  draw = show;
  for (const event of ['popstate', 'hashchange']) {
    addEventListener(event, () => {
      if (location.hash.replace(/^#/, '') !== write(app.state)) change(read(location.hash), app.state);
    });
  }
  change(read(location.hash), undefined);
  // What other policies do is made ready while the reader looks at this one.
  data.views.forEach((_, view) => setTimeout(() => forestAt(view), 50));
}

/** Changes what is shown. A step is one that the browser's back button takes back. */
export function go(to: Partial<State>, isStep = true): void {
  const before = app.state;
  change({ ...before, ...to }, before);
  const hash = write(app.state);
  if (hash === write(before)) return;
  try {
    const address = hash === '' ? location.href.replace(/#.*$/, '') : `#${hash}`;
    history[isStep ? 'pushState' : 'replaceState'](null, '', address);
  } catch {
    // A frame may forbid it: the page works without a link.
  }
}

function change(state: State, before: State | undefined): void {
  const named = data.views.findIndex(({ name }) => name !== '' && name === state.view);
  const view = named < 0 ? data.shown : named;
  const isOther = !before || view !== app.view;
  const { forest } = app;
  app.state = state;
  if (isOther) {
    // A link that is opened has no policy before.
    app.compared = before ? app.view : -1;
    app.view = view;
    app.forest = forestAt(view);
    if (before) app.forest.openAs(forest);
  }
  if (isOther || FILTERS.some((name) => state[name] !== before[name])) {
    app.forest.filter(isFiltered(state) ? state : undefined);
  }
  [app.object, app.line] = find(state.at);
  if (state.at !== before?.at) app.forest.reveal(app.line);
  app.lines = isTable() ? sorted() : app.forest.visible();
  draw(before);
}

/** The lines of the table: each object once, sorted if it is wanted. */
function sorted(): number[] {
  const { forest, state } = app;
  const lines = new Set<number>();
  for (let line = 0; line < forest.size; line++) {
    if (!forest.matches[line]) continue;
    // An object with several owners may stand in several lines: its first one is better.
    const own = forest.lineOf[forest.own(line)] ?? line;
    lines.add(forest.matches[own] ? own : line);
  }
  const column = COLUMNS.find((column) => column === state.sort.replace('-', ''));
  if (column === undefined) return [...lines];
  const sign = state.sort.startsWith('-') ? -1 : 1;
  const keyed = [...lines].map((line) => (
    { line, rank: column === 'state' ? forest.fate(line) : 0, text: cell(line, column) }));
  keyed.sort((a, b) => {
    // What has no value comes last in both directions.
    if (column !== 'state' && (a.text === '') !== (b.text === '')) return a.text === '' ? 1 : -1;
    return sign * (a.rank - b.rank || (a.text < b.text ? -1 : Number(a.text > b.text)));
  });
  return keyed.map(({ line }) => line);
}

/** What a column shows of a line. */
export function cell(line: number, column: Column): string {
  const { forest } = app;
  const { objects } = data;
  const object = forest.object(line);
  switch (column) {
    case 'object': return forest.title(line);
    case 'state': return forest.word(line);
    case 'name': return forest.own(line) < 0 ? forest.title(line) : objects.name[object]!;
    case 'detail': return forest.detail(line);
    default: return textOf(objects[column], object);
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
  const { forest } = app;
  const [, what, number] = /^(row|object)-(\d+)$/.exec(at) ?? [];
  if (what === 'row') {
    const line = forest.lineOfRow[Number(number)] ?? -1;
    return [forest.own(line), line];
  }
  const { name } = data.objects;
  const named = what ? Number(number) : PLAIN.test(at) ? name.findIndex((_, object) => placeOf(object) === at) : -1;
  const object = named < name.length ? named : -1;
  return [object, forest.lineOf[object] ?? -1];
}

/** Selects a line. */
export function select(line: number, isStep = true): void {
  const object = app.forest.own(line);
  if (object < 0) go({ at: `row-${app.forest.row[line]}` }, isStep);
  else selectObject(object, isStep);
}

export function selectObject(object: number, isStep = true): void {
  const place = placeOf(object);
  go({ at: find(place)[0] === object ? place : `object-${object}` }, isStep);
}

/** The next line after the selected one that needs attention most. */
export function nextWorst(): number | undefined {
  const { forest, line } = app;
  const bad = [fateOf('stuck'), fateOf('error')];
  const lines = Array.from({ length: forest.size }, (_, at) => (line + 1 + at) % forest.size);
  return lines.find((at) => forest.matches[at] && (bad.includes(forest.fate(at)) || forest.loses(at)));
}
