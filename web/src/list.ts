// The tree or the table, of any length: only the lines in sight are in the document. Lines have one height, so that
// places are a multiplication; the keyboard moves an active line, which screen readers follow.
import { forest, go, isPaper, isTable, line as selected, lines, MOST_PRINTED, state } from './app.ts';
import { data, fateOf, grouped } from './data.ts';
import { colour, fill, h, symbol, type Part } from './dom.ts';
import { COLUMNS, type Column } from './forest.ts';

/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;

const header = h('div.line.header', { role: 'row', 'aria-rowindex': 1 });
const rows = h('div.lines', { role: 'rowgroup' });
export const list = h('div.list', { tabindex: 0 }, h('div.headers', { role: 'rowgroup' }, header), rows);
/** The place of the active line. */
let active = 0;

list.addEventListener('scroll', draw, { passive: true });
new ResizeObserver(draw).observe(list);

export const activeLine = (): number => lines[active] ?? -1;
const columns = (): readonly Column[] => (isTable() ? COLUMNS : ['object', 'state', 'detail']);

/** Shows the lines of now. The active one stays, or what it stands below. */
export function showLines(line: number): void {
  const places = new Map(lines.map((line, place) => [line, place]));
  while (line >= 0 && !places.has(line)) line = forest.parent[line]!;
  active = places.get(line) ?? 0;
  list.id = isTable() ? 'table' : 'tree';
  list.role = isTable() ? 'grid' : 'treegrid';
  list.ariaLabel = isTable() ? 'All objects' : 'Owners, and their dependents below them';
  list.ariaRowCount = String(lines.length + 1);
  fill(header, ...columns().map(headOf));
  draw();
}

/** The head of a column. In the table it sorts: up, down, and back to the order of the tree. */
function headOf(column: Column): HTMLElement {
  const head = column === 'created' ? 'created (UTC)' : column;
  if (!isTable()) return h(`div.${column}`, { role: 'columnheader' }, head);
  const orders = ['', column, `-${column}`];
  const at = Math.max(0, orders.indexOf(state.sort));
  return h(`div.${column}`, { role: 'columnheader', 'aria-sort': ['none', 'ascending', 'descending'][at]! },
    h('button.sort', { id: `sort-${column}`, click: () => go({ sort: orders[(at + 1) % 3]! }) }, head));
}

/** Makes a line the active one, and brings it into sight: into the middle if it is far away. */
export function activate(place: number): void {
  const isFar = Math.abs(place - active) > 1;
  active = Math.max(0, Math.min(place, lines.length - 1));
  const { height, room } = measures();
  const top = active * height;
  const nearest = Math.min(top, Math.max(list.scrollTop, top + height - room));
  if (nearest !== list.scrollTop) list.scrollTop = isFar ? top - room / 2 : nearest;
  draw();
}

/** Where a key leads to in the list. */
export function move(key: string): boolean {
  const { height, room } = measures();
  const page = Math.max(1, Math.floor(room / height) - 1);
  const to = ({
    ArrowDown: active + 1, j: active + 1, ArrowUp: active - 1, k: active - 1, PageDown: active + page,
    PageUp: active - page, Home: 0, End: lines.length,
  } as Record<string, number>)[key];
  if (to !== undefined) activate(to);
  return to !== undefined;
}

/** The height of a line, and the room for lines. */
function measures(): { height: number; room: number } {
  const height = parseFloat(getComputedStyle(list).getPropertyValue('--line'));
  return { height, room: list.clientHeight - rows.offsetTop };
}

function draw(): void {
  const { height, room } = measures();
  const fits = isPaper ? MOST_PRINTED : Math.ceil(room / height) + 2 * MARGIN;
  const top = isPaper ? 0 : Math.floor(list.scrollTop / height) - MARGIN;
  const from = Math.max(0, Math.min(top, lines.length - fits));
  rows.style.height = `${lines.length * height}px`;
  rows.replaceChildren(...lines.slice(from, from + fits).map((line, at) => drawnLine(line, from + at, height)));
  list.setAttribute('aria-activedescendant', document.getElementById(`line-${active}`)?.id ?? '');
}

function drawnLine(line: number, place: number, height: number): HTMLElement {
  const row = line < 0 ? ~line : line;
  const kind = line < 0 ? '.fold' : (forest.loses(line) ? '.loses' : '') + (forest.matches[line] ? '' : '.aside');
  const element = h(`div.line.${colour(forest.fate(row))}${kind}${place === active ? '.active' : ''}`, {
    role: 'row', id: `line-${place}`, 'aria-rowindex': place + 2, 'aria-selected': line === selected || 'false',
  }, !isTable() && {
    'aria-level': forest.level[row]!, 'aria-expanded': forest.isOpen(line) || (forest.isClosed(line) && 'false'),
  }, ...columns().map((column) => h(
    `div.${column}`, { role: 'gridcell', title: forest.cell(line, column) || false }, ...contents(line, row, column))));
  element.style.top = `${place * height}px`;
  element.style.setProperty('--depth', String(Math.min(forest.level[row]! - 1, DEEPEST)));
  return element;
}

function contents(line: number, row: number, column: Column): Part[] {
  const text = h('bdi', forest.cell(line, column));
  if (column === 'state') return [symbol(forest.fate(row)), text];
  if (column !== 'object') return [text];
  const isClosed = forest.isClosed(line);
  const [level, worst] = [forest.level[row]!, forest.worst[row]!];
  text.className = 'title';
  return [
    h('span.indent'),
    level > DEEPEST + 1 && h('span.tag', `level ${grouped(level)}`),
    h('span.twisty', { 'aria-hidden': 'true' }, forest.isOpen(line) ? '▾' : isClosed && '▸'),
    text,
    isClosed && line >= 0 && h('span.tag', `+${grouped(forest.end[line]! - line - 1)}`),
    isClosed && worst < fateOf('later') &&
      h(`span.tag.${colour(worst)}`, symbol(worst), `${data.states[worst]!.word} below`),
  ];
}
