// What a line says in the tree, in the table and on paper.
import { app, cell, COLUMNS, forestAt, go, isTable, type Column } from './app.ts';
import { data, fateOf, grouped } from './data.ts';
import { bdi, button, colour, h, symbol, type Child } from './dom.ts';

/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;

export const HEADS: Record<Column, string> = {
  object: 'Object', state: 'State', kind: 'Kind', name: 'Name', namespace: 'Namespace', detail: 'Detail',
  created: 'Created (UTC)',
};

/** An element for a line, with its indentation and its colour. */
export function drawn(name: 'div' | 'tr', line: number, attributes: object, cells: HTMLElement[]): HTMLElement {
  const { forest } = app;
  const is = [forest.folds[line] && 'fold', forest.loses(line) && 'loses', !forest.matches[line] && 'aside'];
  const look = [colour(forest.fate(line)), ...is.filter(Boolean)].join(' ');
  const element = h(name, { class: `line ${look}`, ...attributes }, ...cells);
  element.style.setProperty('--depth', String(Math.min(forest.level[line]! - 1, DEEPEST)));
  return element;
}

/** What a cell holds. */
export function contents(line: number, column: Column): Child[] {
  const { forest, compared } = app;
  const object = forest.own(line);
  const fate = forest.fate(line);
  const before = compared >= 0 && object >= 0 && forestAt(compared).endOf(object).word;
  const was = before !== false && before !== forest.endOf(object).word && tag(`was: ${before}`, 'changed');
  if (column === 'state') return [symbol(fate), ' ', bdi(cell(line, column)), isTable() && was];
  if (column !== 'object') return [bdi(cell(line, column))];
  const isOpen = forest.isOpen(line);
  const isClosed = !isOpen && forest.isAbove[line] === 1;
  const { lines, worst } = isClosed ? forest.below(line) : { lines: [], worst: fate };
  const level = forest.level[line]!;
  const isMissing = !forest.word(line) && data.objects.flags[forest.object(line)]! & 2;
  return [
    h('span', { class: 'indent' }),
    level > DEEPEST + 1 && tag(`level ${grouped(level)}`),
    h('span', { class: 'twisty', 'aria-hidden': 'true' }, isOpen ? '▾' : isClosed ? '▸' : ''),
    !forest.hasWords && symbol(fate),
    h('bdi', { class: 'title' }, forest.title(line)),
    isMissing ? tag('does not exist') : false,
    isClosed && !forest.folds[line] && tag(`+${grouped(lines.length)}`),
    isClosed && worst < fateOf('later') && h(
      'span', { class: `tag ${colour(worst)}` }, symbol(worst), `${data.states[worst]!.word} below`),
    was,
  ];
}

function tag(text: string, kind = ''): HTMLElement {
  return h('span', { class: `tag ${kind}` }, text);
}

/** The columns of what is shown. A tree says nothing of states. */
function columnsOf(): readonly Column[] {
  return isTable() ? COLUMNS : app.forest.hasWords ? ['object', 'state', 'detail'] : ['object', 'detail'];
}

/** A line of the list. */
export function lineOf(line: number, place: number): HTMLElement {
  const { forest } = app;
  const level = isTable() ? {} : {
    'aria-level': forest.level[line]!, 'aria-expanded': forest.isAbove[line] === 1 && String(forest.isOpen(line)),
  };
  return drawn('div', line, {
    role: 'row', id: `line-${place}`, 'data-place': place, 'aria-rowindex': place + 2,
    'aria-selected': String(line === app.line), ...level,
  }, columnsOf().map((column) => h(
    'div', { role: 'gridcell', class: column, title: cell(line, column) || false }, ...contents(line, column))));
}

/** The line above the list. In the table it sorts: up, down, and back to the order of the tree. */
export function header(): HTMLElement {
  const { sort } = app.state;
  return h('div', { role: 'row', class: 'line header', 'aria-rowindex': 1 }, ...columnsOf().map((column) => {
    const direction = sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : 'none';
    const next = { none: column, ascending: `-${column}`, descending: '' }[direction];
    const press = (): void => {
      go({ sort: next });
      document.querySelector<HTMLElement>(`.header .${column} button`)?.focus();
    };
    return h('div', { role: 'columnheader', class: column, 'aria-sort': isTable() && direction },
      isTable() ? button(HEADS[column], press, { class: 'sort' }) : HEADS[column]);
  }));
}
