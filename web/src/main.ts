// Reads the picture that stands in the page, and shows what the reader has chosen of it. A link has
// that behind the # of the address, so that it works for a file, too.
import { data, grouped, placeOf, places, use } from './data.ts';
import { fill, find, h, pill } from './dom.ts';
import { COLUMNS, forestOf, type Forest } from './forest.ts';
import { search, showHead, story } from './view.ts';

/** The height of a line in pixels, also in the style sheet: so places are a multiplication. */
const LINE = 26;
/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;
/** A browser lays out no more lines on paper in a time that a person waits for. */
const MOST_PRINTED = 3000;

/**
 * What is chosen at the start: an object as `kind/namespace/name`, or `row-N` for a line without
 * one; the policy; tree or table; words to look for; the states that are not shown; a column of the
 * table, or `-COLUMN` to sort down.
 */
const START = { o: '', p: '', v: 'tree', q: '', off: '', sort: '' };
type Choice = Partial<typeof START>;
/** A link may be cut, or made by hand. */
export let chosen = START;
export const isTable = (): boolean => chosen.v === 'table';

/** The lines of each view, and of the one that is shown. */
export let forests: Forest[];
export let forest: Forest;
/** The chosen object, and its line; without one, -1. */
export let object = -1;
export let line = -1;
/** The lines to show, and the active one of them, which screen readers follow. */
let lines: number[] = [];
let active = -1;
let isPaper = false;
/** What is closed, in all views. */
const closed = new Set<number>();

const [page, list, rows, found] = [find('#page'), find('.list'), find('.lines'), find('#found')];
const heads = [...document.querySelectorAll<HTMLElement>('[role=columnheader]')];

/** The address of a choice: what is not as at the start. */
export function linkOf(to: Choice): string {
  const all = Object.entries({ ...chosen, ...to });
  const other = all.filter(([name, value]) => value !== START[name as keyof Choice]);
  return `#${new URLSearchParams(other)}`;
}

/** Changes what is shown, and the address. */
export function go(to: Choice): void {
  const link = linkOf(to);
  show(link);
  // A link alone is relative to the page around, where this one has no address. An empty one leads to the top.
  const here = new URL(location.href);
  here.hash = link === '#' ? 'v=tree' : link;
  location.replace(here);
}

/** Makes a line the active one, and chooses what it shows. */
function choose(line: number): void {
  active = line;
  const own = forest.view.rows.object[line]! - 1;
  go({ o: line < 0 ? '' : placeOf[own] ?? `row-${line}` });
}

function toggle(line: number): void {
  forest.toggle(line);
  active = forest.row(line);
  show();
}

/** Shows what a link says; without one, what was chosen before in other lines. */
function show(link?: string, onPaper = isPaper): void {
  isPaper = onPaper;
  const [before, shown, old] = [chosen, linkOf({ o: '' }), forest];
  const said = new URLSearchParams(link?.slice(1));
  if (link !== undefined) chosen = { ...START, ...Object.fromEntries(said) };
  forest = forests.find(({ view }) => view.name === chosen.p) ?? forests[data.shown]!;
  let isSame = link !== undefined && forest === old && linkOf({ o: '' }) === shown;
  if (!isSame) forest.filter(chosen.q, chosen.off);
  object = places.get(chosen.o) ?? -1;
  const row = Number(/^row-(\d+)$/.exec(chosen.o)?.[1]);
  line = forest.lineOf[object] ?? (row < forest.size ? row : -1);
  if (object < 0) object = (forest.view.rows.object[line] ?? 0) - 1;
  if (line >= 0 && chosen.o !== before.o && !lines.includes(line)) {
    forest.reveal(line);
    isSame = false;
  }
  const isAll = isPaper && forest.size <= MOST_PRINTED;
  if (!isSame) lines = isTable() ? forest.table(chosen.sort) : forest.visible(isAll);
  if (link !== undefined && (line >= 0 || forest !== old)) active = line;
  // What is not shown is below something that is.
  while (active >= 0 && !lines.includes(active)) active = forest.parent[active]!;
  if (!lines.includes(active)) active = lines[0] ?? -1;
  if (!isSame) showAll();
  const top = lines.indexOf(active) * LINE;
  list.scrollTop = Math.min(top, Math.max(list.scrollTop, top + LINE - room()));
  drawLines();
  fill(find('aside'), ...story()).scrollTop = 0;
}

function showAll(): void {
  showHead();
  const { size } = forest;
  const left = isPaper ? lines.length - MOST_PRINTED : 0;
  fill(found, left > 0 ? `${grouped(left)} more lines are not printed.`
    : size === 0 ? 'No objects.'
    : lines.length === 0 ? 'Nothing matches: Esc clears the search.'
    : `${grouped(forest.found)} of ${grouped(size)} ${size === 1 ? 'line' : 'lines'}`);
  const [id, role] = isTable() ? ['table', 'grid'] : ['tree', 'treegrid'];
  Object.assign(list, { id, role, ariaRowCount: lines.length + 1 });
  for (const head of heads) {
    const at = [head.className, `-${head.className}`].indexOf(chosen.sort);
    head.ariaSort = ['none', 'ascending', 'descending'][at + 1]!;
  }
  rows.style.height = `${lines.length * LINE}px`;
}

const room = (): number => list.clientHeight - rows.offsetTop;

/** A line that is pressed stays: a browser makes no click of two elements. */
const follow = (): unknown => rows.matches(':active') || drawLines();

/** Puts the lines in sight into the document. */
function drawLines(): void {
  const fits = isPaper ? MOST_PRINTED : Math.ceil(room() / LINE) + 2 * MARGIN;
  const top = isPaper ? 0 : Math.floor(list.scrollTop / LINE) - MARGIN;
  const from = Math.max(0, Math.min(top, lines.length - fits));
  rows.style.paddingTop = `${from * LINE}px`;
  rows.replaceChildren(...lines.slice(from, from + fits).map((line, at) => drawn(line, from + at)));
  list.setAttribute('aria-activedescendant', `line-${lines.indexOf(active)}`);
}

function drawn(line: number, place: number): HTMLElement {
  const row = forest.row(line);
  const [said, level, worst] = [forest.said(line), forest.level[row]!, forest.worst[row]!];
  const [fate, isOpen] = [forest.view.rows.fate[row]!, forest.isOpen(line)];
  const isClosed = isOpen === false && line >= 0;
  const isAside = line < 0 || forest.shown[row] === 1;
  const cells = {
    state: [said.state && pill(fate, said.state)],
    object: [
      h('span.indent'),
      level > DEEPEST + 1 && h('span.tag', `level ${grouped(level)}`),
      h('span.twisty', { ariaHidden: 'true' }, isOpen ? '▾' : isOpen === false && '▸'),
      h('bdi.title', said.object),
      isClosed && h('span.tag', `+${grouped(forest.end[line]! - line - 1)}`),
      isClosed && worst < fate && worst < forest.calm && pill(worst),
    ],
  };
  const element = h(`div.line.${isAside ? 'aside' : forest.loses(line) ? 'loses' : ''}`, {
    role: 'row', id: `line-${place}`, ariaRowIndex: place + 2, ariaSelected: line === active,
    ...!isTable() && { ariaLevel: level, ariaExpanded: isOpen },
  });
  for (const column of isTable() ? COLUMNS : ['state', 'object', 'detail'] as const) {
    const parts = cells[column as 'state'] ?? [h('bdi', said[column])];
    element.append(h(`div.${column}`, { role: 'gridcell', title: said[column] }, ...parts));
  }
  element.style.setProperty('--depth', `${Math.min(level - 1, DEEPEST)}`);
  return element;
}

function click({ target }: { target: EventTarget | null }): void {
  const at = target as Element;
  const line = lines[Number(at.closest('.lines .line')?.id.slice('line-'.length))];
  const column = at.closest('[role=columnheader]')?.className;
  // Up, down, and back to the order of the tree.
  const next = { [`${column}`]: `-${column}`, [`-${column}`]: '' };
  if (column) go({ sort: next[chosen.sort] ?? column });
  else if (line! < 0 || at.matches('.twisty:not(:empty)')) toggle(line!);
  else if (line !== undefined) choose(line);
}

type Keys = Record<string, () => unknown>;
const everywhere: Keys = {
  '/': () => search.select(),
  n: () => {
    const worst = forest.nextWorst(active);
    if (worst === undefined) fill(found, 'Nothing is stuck or loses data.');
    else choose(worst);
  },
  t: () => go({ v: isTable() ? 'tree' : 'table' }),
  p: () => go({ p: forests[(forests.indexOf(forest) + 1) % forests.length]!.view.name }),
  Escape: () => {
    go(chosen.o ? { o: '' } : { q: '' });
    list.focus();
  },
};
const inSearch: Keys = {
  Escape: () => go({ q: '' }),
  Enter: () => {
    list.focus();
    choose(lines.find((line) => forest.shown[line] === 2) ?? active);
  },
};
const inTree: Keys = {
  Enter: () => forest.isOpen(active) !== undefined && toggle(active),
  '*': () => {
    closed.clear();
    show();
  },
  ArrowRight: () => (forest.isOpen(active) === false ? toggle(active) : step(1)),
  ArrowLeft: () => {
    const parent = forest.parent[forest.row(active)]!;
    if (active >= 0 && forest.isOpen(active)) toggle(active);
    else if (parent >= 0) choose(parent);
  },
};

/** Chooses the line so many lines below the active one. */
function step(by: number): void {
  const at = Math.min(lines.indexOf(active) + by, lines.length - 1);
  choose(lines[Math.max(0, at)]!);
}

function press(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isInList = target === list && lines.length > 0;
  const keys = target === search ? inSearch
    : { ...everywhere, ...isInList && !isTable() && inTree };
  const screen = Math.max(1, Math.floor(room() / LINE) - 1);
  const steps: Record<string, number> = {
    ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: screen, PageUp: -screen, Home: -Infinity,
    End: Infinity,
  };
  if (Object.hasOwn(keys, key)) keys[key]!();
  else if (isInList && Object.hasOwn(steps, key)) step(steps[key]!);
  else return;
  event.preventDefault();
}

/** The picture as text. A large one is packed. */
async function picture(): Promise<string> {
  const text = find('#picture').textContent;
  if (text.startsWith('{')) return text;
  const packed = new Blob([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture in the place of the text, now and whenever the address changes. */
async function run(): Promise<void> {
  // A browser may have saved the page with what it showed, and without the text.
  const text = document.querySelector('#text');
  try {
    use(JSON.parse(await picture()));
    START.p = data.views[data.shown]!.name;
    START.off = data.off;
    forests = data.views.map((view) => forestOf(view, closed));
    page.hidden = false;
    text?.remove();
    show(location.hash);
  } catch (error) {
    const why = `This page can't show its picture: ${(error as Error).message}. `;
    fill(find('#message'), { hidden: false }, why, 'The text below says the same.');
    page.hidden = true;
    page.before(text ?? '');
    throw error;
  }
  // There is room for the story of what holds things up.
  const culprit = forest.view.facts.find(({ objects }) => objects)?.objects![0]![0];
  const first = forest.lineOf[culprit ?? -1] ?? forest.nextWorst(-1);
  if (!chosen.o && first !== undefined && innerWidth > 760) choose(first);
  addEventListener('pointerup', () => setTimeout(drawLines));
  addEventListener('hashchange', () => location.hash === linkOf({}) || show(location.hash));
  addEventListener('keydown', press);
  list.addEventListener('click', click);
  list.addEventListener('scroll', follow);
  new ResizeObserver(follow).observe(list);
  addEventListener('beforeprint', () => show(undefined, true));
  addEventListener('afterprint', () => show(undefined, false));
}

void run();
