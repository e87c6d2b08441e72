// What a line says in the tree, in the table and on paper.
import { cell, COLUMNS, compared, forest, go, isTable, line as selected, state, type Column } from './app.ts';
import { data, fateOf, grouped } from './data.ts';
import { bdi, colour, h, symbol, type Part } from './dom.ts';

/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;

/** What stands above a column. The style sheet makes its first letter a capital one. */
export const head = (column: Column): string => (column === 'created' ? 'created (UTC)' : column);

/** An element for a line, with its indentation and its colour. */
export function drawn(name: 'div' | 'tr', line: number, ...parts: Part[]): HTMLElement {
  const is = (forest.folds[line] ? '.fold' : '') + (forest.loses(line) ? '.loses' : '') +
    (forest.matches[line] ? '' : '.aside');
  const element = h(`${name}.line.${colour(forest.fate(line))}${is}`, ...parts);
  element.style.setProperty('--depth', String(Math.min(forest.level[line]! - 1, DEEPEST)));
  return element;
}

/** What a cell holds. */
export function contents(line: number, column: Column): Part[] {
  const object = forest.own(line);
  const fate = forest.fate(line);
  const before = object < 0 ? undefined : compared?.endOf(object).word;
  const was = before !== undefined && before !== forest.endOf(object).word && tag(`was: ${before}`, 'changed');
  const text = bdi(cell(line, column));
  if (column === 'state') return [symbol(fate), text, isTable() && was];
  if (column !== 'object') return [text];
  const isOpen = forest.isOpen(line);
  const isClosed = !isOpen && forest.isAbove[line]! > 0;
  const { lines, worst } = isClosed ? forest.below(line) : { lines: [], worst: fate };
  const level = forest.level[line]!;
  text.className = 'title';
  return [
    h('span.indent'),
    level > DEEPEST + 1 && tag(`level ${grouped(level)}`),
    h('span.twisty', { 'aria-hidden': 'true' }, isOpen ? '▾' : isClosed && '▸'),
    text,
    isClosed && !forest.folds[line] && tag(`+${grouped(lines.length)}`),
    isClosed && worst < fateOf('later') && tag(`${data.states[worst]!.word} below`, colour(worst), symbol(worst)),
    was,
  ];
}

function tag(text: string, kind = '', before: Part = false): HTMLElement {
  return h(`span.tag.${kind}`, before, text);
}

/** The columns of what is shown. */
const columnsOf = (): readonly Column[] => (isTable() ? COLUMNS : ['object', 'state', 'detail']);

/** A line of the list. */
export function lineOf(line: number, place: number): HTMLElement {
  return drawn('div', line, {
    role: 'row', id: `line-${place}`, 'aria-rowindex': place + 2, 'aria-selected': String(line === selected),
  }, !isTable() && {
    'aria-level': forest.level[line]!, 'aria-expanded': forest.isAbove[line]! > 0 && String(forest.isOpen(line)),
  }, ...columnsOf().map((column) => h(
    `div.${column}`, { role: 'gridcell', title: cell(line, column) || false }, ...contents(line, column))));
}

/** The line above the list. In the table it sorts: up, down, and back to the order of the tree. */
export function header(): HTMLElement {
  return h('div.line.header', { role: 'row', 'aria-rowindex': 1 }, ...columnsOf().map((column) => {
    const orders = [column, `-${column}`, ''];
    const at = orders.indexOf(state.sort);
    const click = (): void => {
      go({ sort: orders[(at + 1) % 3]! });
      document.querySelector<HTMLElement>(`.header .${column} button`)?.focus();
    };
    return h(
      `div.${column}`, { role: 'columnheader', 'aria-sort': isTable() && ['ascending', 'descending', 'none'].at(at)! },
      isTable() ? h('button.sort', { click }, head(column)) : head(column));
  }));
}
