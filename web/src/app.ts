// What the reader has chosen, and what is shown of it. A link keeps it behind the # of the address,
// so that it works for a file, too. Only this module changes it.
import { data, fateOf, isChange, textOf, use, type Data } from './data.ts';
import { COLUMNS, forestOf, type Forest } from './forest.ts';

/** A browser lays out no more lines on paper in a time that a person waits for. */
export const MOST_PRINTED = 3000;

/** What is chosen, each as it is at the start. */
export const START = {
  /** The object as `kind/namespace/name`, or `row-N` for a line without one. */
  o: '',
  /** The policy. */
  p: '',
  /** `tree` or `table`. */
  v: 'tree',
  /** Words to look for. */
  q: '',
  /** The states that are not shown. */
  off: '',
  /** A column of the table; `-COLUMN` sorts down; empty for the order of the tree. */
  sort: '',
};
type Name = keyof typeof START;
type Choice = Partial<typeof START>;
/** What is not as at the start. A link has it, which may be cut, or made by hand. */
let state = new URLSearchParams();
export const chosen = (name: Name): string => state.get(name) ?? START[name];

/** The address of a choice. */
export function linkOf(to: Choice): string {
  const link = new URLSearchParams(state);
  for (const [name, value] of Object.entries(to)) {
    if (value === START[name as Name]) link.delete(name);
    else link.set(name, value);
  }
  return `#${link}`;
}

/** The lines of each view, and of the one that is shown. */
export let forests: Forest[];
export let forest: Forest;
/** The lines to show, and the active one of them. */
export let lines: number[] = [];
export let active = -1;
/** The chosen object, and its line; without one, -1. */
export let object = -1;
export let line = -1;
/** The page is printed. */
export let isPaper = false;

/** What is closed, in all views. */
const closed = new Set<number>();
/** How a link names each object, so that it fits tomorrow's page; a second one by its number. */
const places = new Map<string, number>();
export let placeOf: string[];
/** Shows all this; `isSame` if only what is chosen may be different. */
let draw: (isSame: boolean) => void;

export const isTable = (): boolean => chosen('v') === 'table';

/** Shows of a picture what the address says, now and whenever it changes. */
export function start(picture: Data, show: typeof draw): void {
  use(picture);
  draw = show;
  START.p = data.views[data.shown]!.name;
  START.off = isChange() ? 'untouched' : '';
  forests = data.views.map((view) => forestOf(view, closed));
  const { kind, namespace, name } = data.objects;
  name.forEach((name, at) => {
    const place = `${textOf(kind, at).toLowerCase()}/${textOf(namespace, at)}/${name}`;
    places.set(places.has(place) ? `object-${at}` : place, at);
  });
  placeOf = [...places.keys()];
  addEventListener('hashchange', () => change(location.hash));
  change(location.hash);
}

/** Changes what is shown, and the address. */
export function go(to: Choice): void {
  const link = linkOf(to);
  change(link);
  try {
    history.replaceState(null, '', link);
  } catch {
    // A frame may forbid it.
    location.replace(link);
  }
}

function change(link: string, isOther = !forest): void {
  const [before, shown] = [state, forest];
  state = new URLSearchParams(link.slice(1));
  const others = Object.keys(START).filter((name) => name !== 'o');
  isOther ||= others.some((name) => state.get(name) !== before.get(name));
  if (isOther) {
    forest = forests.find(({ view }) => view.name === chosen('p')) ?? forests[data.shown]!;
    forest.filter(chosen('q'), chosen('off'));
    if (forest !== shown) active = -1;
  }
  const known = places.get(chosen('o'));
  const row = Number(/^row-(\d+)$/.exec(chosen('o'))?.[1] ?? -1);
  line = known !== undefined ? forest.lineOf[known]! : row < forest.size ? row : -1;
  object = known ?? (forest.view.rows.object[line] ?? 0) - 1;
  if (line >= 0 && chosen('o') !== before.get('o') && !lines.includes(line)) {
    forest.reveal(line);
    isOther = true;
  }
  const isAll = isPaper && forest.size <= MOST_PRINTED;
  if (isOther) lines = isTable() ? table() : forest.visible(isAll);
  if (line >= 0 && link !== `#${before}`) active = line;
  // What is not shown is below something that is.
  while (active >= 0 && !lines.includes(active)) active = forest.parent[active]!;
  if (!lines.includes(active)) active = lines[0] ?? -1;
  draw(!isOther);
}

/** Makes a line the active one, and chooses what it shows. */
export function choose(line: number): void {
  active = line;
  const own = forest.view.rows.object[line]! - 1;
  go({ o: line < 0 ? '' : placeOf[own] ?? `row-${line}` });
}

/** Opens or closes a line. */
export function toggle(line: number): void {
  forest.toggle(line);
  active = forest.row(line);
  change(linkOf({}), true);
}

export function openAll(): void {
  closed.clear();
  change(linkOf({}), true);
}

/** Shows everything for paper, or what is open if that is too much; and what is open again. */
export function print(isNow: boolean): void {
  isPaper = isNow;
  change(linkOf({}), true);
}

/** The lines of the table: each object once, sorted if it is wanted. */
function table(): number[] {
  const isFirst = (line: number): boolean =>
    (forest.lineOf[forest.view.rows.object[line]! - 1] ?? line) === line;
  const found = [...forest.shown.keys()].filter((line) => forest.shown[line] === 2);
  const once = found.filter(isFirst);
  const column = COLUMNS.find((column) => column === chosen('sort').replace('-', ''));
  if (!column) return once;
  const sign = chosen('sort').startsWith('-') ? -1 : 1;
  const keys: string[] = [];
  // Of states, what needs attention most is the first: a letter for each.
  const letter = (line: number): string => String.fromCharCode(65 + forest.view.rows.fate[line]!);
  for (const line of once) {
    keys[line] = column === 'state' ? letter(line) : forest.cell(line, column);
  }
  // What has no value comes last in both directions.
  const compare = (a: string, b: string): number =>
    a === b ? 0 : !a ? 1 : !b ? -1 : a < b ? -sign : sign;
  return once.sort((a, b) => compare(keys[a]!, keys[b]!));
}

/** The next line after this one that is stuck or loses data. */
export function nextWorst(line = active): number | undefined {
  const bad = [fateOf('stuck'), fateOf('error')];
  const after = Array.from({ length: forest.size }, (_, step) => (line + 1 + step) % forest.size);
  return after.find((at) => forest.shown[at] === 2
    && (bad.includes(forest.view.rows.fate[at]!) || forest.loses(at)));
}
