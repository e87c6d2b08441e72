// What a line says in the tree, in the table and on paper.
import type { App } from './app.ts';
import { bdi, button, grouped, h, symbol, type Child } from './dom.ts';
import type { Line } from './forest.ts';
import { look, moment } from './picture.ts';
import { COLUMNS } from './state.ts';

/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;

export type Column = (typeof COLUMNS)[number] | 'object';

export const HEADS: Record<Column, string> = {
  object: 'Object', state: 'State', kind: 'Kind', name: 'Name', namespace: 'Namespace', detail: 'Detail',
  created: 'Created (UTC)',
};

/** What a column shows of a line. */
export function cell({ row, object, index }: Line, column: Column): string {
  switch (column) {
    case 'object': return row.title;
    case 'state': return row.word ?? '';
    case 'kind': return object?.kind ?? '';
    case 'name': return object && index !== undefined ? object.name : row.title;
    case 'namespace': return object?.namespace ?? '';
    case 'detail': return row.detail ?? '';
    case 'created': return moment(object?.created);
  }
}

/** The lines of the table: each object once, sorted if it is wanted. */
export function sorted({ forest, state }: App): Line[] {
  const byObject = new Map<number | Line, Line>();
  for (const line of forest.all) {
    if (!line.matches) continue;
    // An object with several owners may stand in several lines: its first one is better.
    const own = line.index === undefined ? line : forest.lineOf(line.index);
    byObject.set(line.index ?? line, own.matches ? own : line);
  }
  const lines = [...byObject.values()];
  const isDown = state.sort.startsWith('-');
  const column = COLUMNS.find((column) => column === state.sort.replace('-', ''));
  if (column === undefined) return lines;
  const keyed = lines.map((line) => (
    { line, rank: column === 'state' ? look(line.row.fate).rank : 0, text: cell(line, column) }));
  keyed.sort((a, b) => {
    // What has no value comes last in both directions.
    if (column !== 'state' && (a.text === '') !== (b.text === '')) return a.text === '' ? 1 : -1;
    const order = a.rank - b.rank || (a.text < b.text ? -1 : Number(a.text > b.text));
    return isDown ? -order : order;
  });
  return keyed.map(({ line }) => line);
}

/** Gives an element the indentation of a line. */
export function indented<E extends HTMLElement>(element: E, { depth }: Line): E {
  element.style.setProperty('--depth', String(Math.min(depth, DEEPEST)));
  return element;
}

/** How a line looks. */
export function classesOf({ row, isFold, matches }: Line): string {
  return [`fate-${row.fate}`, isFold && 'fold', row.loses && 'loses', !matches && 'aside'].filter(Boolean).join(' ');
}

/** What a cell holds. */
export function contents(app: App, line: Line, column: Column): Child[] {
  const { forest } = app;
  const { row, object } = line;
  const before = app.before(line.index);
  const was = before === undefined ? null : h('span', { class: 'tag changed' }, `was: ${before}`);
  if (column === 'state') return [symbol(row.fate), ' ', bdi(cell(line, column)), app.isTable && was];
  if (column !== 'object') return [bdi(cell(line, column))];
  const isOpen = forest.isOpen(line);
  const isClosed = line.isAbove && !isOpen;
  const trouble = isClosed && forest.trouble(line);
  return [
    h('span', { class: 'indent' }),
    line.depth > DEEPEST && h('span', { class: 'tag' }, `level ${grouped(line.level)}`),
    h('span', { class: 'twisty', 'aria-hidden': 'true' }, isOpen ? '▾' : isClosed ? '▸' : ''),
    !forest.hasWords && symbol(row.fate),
    h('bdi', { class: 'title' }, row.title),
    object?.virtual && !row.word && h('span', { class: 'tag' }, 'does not exist'),
    isClosed && !line.isFold && h('span', { class: 'tag' }, `+${grouped(line.below)}`),
    trouble && h('span', { class: `tag fate-${trouble}` }, symbol(trouble), `${look(trouble).word} below`),
    was,
  ];
}

/** The columns of what is shown. A tree says nothing of states. */
function columnsOf({ isTable, forest }: App): readonly Column[] {
  return isTable ? COLUMNS : forest.hasWords ? ['object', 'state', 'detail'] : ['object', 'detail'];
}

/** A line of the list. */
export function lineOf(app: App, line: Line): HTMLElement {
  const { level, isAbove } = line;
  return indented(h(
    'div', {
      role: 'row', class: `line ${classesOf(line)}`, 'aria-selected': String(app.selected === line),
      ...(app.isTable ? {} : { 'aria-level': level, 'aria-expanded': isAbove && String(app.forest.isOpen(line)) }),
    },
    ...columnsOf(app).map((column) => h(
      'div', { role: 'gridcell', class: column, title: cell(line, column) || null }, ...contents(app, line, column))),
  ), line);
}

/** The line above the list. In the table it sorts: up, down, and back to the order of the tree. */
export function header(app: App): HTMLElement {
  const { sort } = app.state;
  const heads = columnsOf(app).map((column) => {
    if (!app.isTable) return h('div', { role: 'columnheader', class: column }, HEADS[column]);
    const direction = sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : 'none';
    const next = { none: column, ascending: `-${column}`, descending: '' }[direction];
    const press = (): void => {
      app.go({ sort: next });
      document.querySelector<HTMLElement>(`.header .${column} button`)?.focus();
    };
    return h('div', { role: 'columnheader', class: column, 'aria-sort': direction },
      button(HEADS[column], { class: 'sort' }, press));
  });
  return h('div', { role: 'row', class: 'line header', 'aria-rowindex': 1 }, ...heads);
}
