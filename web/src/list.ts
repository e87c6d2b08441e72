// The tree or the table, of any length: only the lines in sight are in the document. Lines have one
// height, so that places are a multiplication; the keyboard moves an active line, which screen
// readers follow.
import {
  active, choose, chosen, forest, go, isPaper, isTable, lines, MOST_PRINTED, toggle,
} from './app.ts';
import { fateOf, grouped } from './data.ts';
import { fill, find, h, pill, type Part } from './dom.ts';
import { COLUMNS, type Column } from './forest.ts';

/** The height of a line in pixels, also in the style sheet. */
const LINE = 26;
/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;

const rows = find('.lines');
export const list = find('.list');

list.addEventListener('scroll', draw);
new ResizeObserver(draw).observe(list);
list.addEventListener('click', ({ target }) => {
  const row = (target as Element).closest('.lines .line');
  const line = lines[Number(row?.id.slice('line-'.length))];
  if (line === undefined) return;
  if (line < 0 || (target as Element).matches('.twisty:not(:empty)')) toggle(line);
  else choose(line);
});

const room = (): number => list.clientHeight - rows.offsetTop;

/** Shows the lines of now, the active one in sight. */
export function showLines(isSame: boolean): void {
  if (!isSame) {
    const [id, role] = isTable() ? ['table', 'grid'] : ['tree', 'treegrid'];
    const ariaLabel = isTable() ? 'All objects' : 'Owners, and their dependents below them';
    Object.assign(list, { id, role, ariaLabel, ariaRowCount: lines.length + 1 });
    rows.style.height = `${lines.length * LINE}px`;
    fill(find('.header'), { hidden: !isTable() }, ...COLUMNS.map(headOf));
  }
  const top = lines.indexOf(active) * LINE;
  list.scrollTop = Math.min(top, Math.max(list.scrollTop, top + LINE - room()));
  draw();
}

/** The head of a column of the table, which sorts: up, down, and back to the order of the tree. */
function headOf(column: Column): HTMLElement {
  const orders = ['', column, `-${column}`];
  const at = Math.max(0, orders.indexOf(chosen('sort')));
  const order = ['none', 'ascending', 'descending'][at]!;
  const sort = (): void => go({ sort: orders[(at + 1) % 3]! });
  return h(`div.${column}`, { role: 'columnheader', 'aria-sort': order },
    h('button', { id: `sort-${column}`, click: sort }, column));
}

/** Chooses the line that a key leads to. */
export function move(key: string): boolean {
  const at = lines.indexOf(active);
  const page = Math.max(1, Math.floor(room() / LINE) - 1);
  const to = ({
    ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page,
    PageUp: at - page, Home: 0, End: lines.length,
  } as Record<string, number>)[key];
  if (to !== undefined) choose(lines[Math.max(0, Math.min(to, lines.length - 1))]!);
  return to !== undefined;
}

function draw(): void {
  const fits = isPaper ? MOST_PRINTED : Math.ceil(room() / LINE) + 2 * MARGIN;
  const top = isPaper ? 0 : Math.floor(list.scrollTop / LINE) - MARGIN;
  const from = Math.max(0, Math.min(top, lines.length - fits));
  rows.style.paddingTop = `${from * LINE}px`;
  rows.replaceChildren(...lines.slice(from, from + fits).map((line, at) => drawn(line, from + at)));
  list.setAttribute('aria-activedescendant', `line-${lines.indexOf(active)}`);
}

function drawn(line: number, place: number): HTMLElement {
  const row = forest.row(line);
  const level = forest.level[row]!;
  const isAside = line < 0 || forest.shown[row] === 1;
  const element = h(`div.line.${isAside ? 'aside' : forest.loses(line) ? 'loses' : ''}`, {
    role: 'row', id: `line-${place}`, 'aria-rowindex': place + 2,
    'aria-selected': `${line === active}`,
    ...!isTable() && { 'aria-level': level, 'aria-expanded': `${forest.isOpen(line)}` },
  });
  for (const column of isTable() ? COLUMNS : ['state', 'object', 'detail'] as const) {
    const text = forest.cell(line, column);
    element.append(h(`div.${column}`, { role: 'gridcell', title: column !== 'state' && text },
      ...column === 'object' ? objectOf(line, row, text)
        : [column === 'state' ? text && pill(forest.view.rows.fate[row]!, text) : h('bdi', text)]));
  }
  element.style.setProperty('--depth', String(Math.min(level - 1, DEEPEST)));
  return element;
}

function objectOf(line: number, row: number, text: string): Part[] {
  const [isOpen, level, worst] = [forest.isOpen(line), forest.level[row]!, forest.worst[row]!];
  const isClosed = isOpen === false && line >= 0;
  return [
    h('span.indent'),
    level > DEEPEST + 1 && h('span.tag', `level ${grouped(level)}`),
    h('span.twisty', { 'aria-hidden': 'true' }, isOpen ? '▾' : isOpen === false && '▸'),
    h('bdi.title', text),
    isClosed && h('span.tag', `+${grouped(forest.end[line]! - line - 1)}`),
    isClosed && worst < forest.view.rows.fate[row]! && worst < fateOf('later') && pill(worst),
  ];
}
