// What goes on paper: the policy, every line that the filter leaves, and the sections of the text.
import type { App } from './app.ts';
import { count, grouped, h } from './dom.ts';
import type { Line } from './forest.ts';
import { classesOf, contents, HEADS, indented, type Column } from './lines.ts';
import { isFiltered } from './state.ts';
import { remedies, sections } from './story.ts';

/** A browser lays out no more rows in a time that a person waits for. */
const MOST = 10_000;
const COLUMNS: Column[] = ['state', 'object', 'namespace', 'detail', 'created'];

/** The sheet of what is shown now. */
export function sheet(app: App): HTMLElement {
  const { view, forest, state } = app;
  const lines = forest.all.filter((line) => line.matches);
  const filter = (['search', 'state', 'kind', 'namespace'] as const)
    .filter((name) => state[name] !== '').map((name) => `${name} ${state[name]}`).join(', ');
  const left = lines.length - MOST;
  return h(
    'div', { id: 'sheet' },
    view.name !== '' && h('p', {}, `Propagation policy: ${view.name}`),
    isFiltered(state) && h('p', {}, `Only what matches: ${filter}: ` +
      `${grouped(lines.length)} of ${count(view.rows.length, 'line')}.`),
    lines.length === 0 ? h('p', {}, forest.isFiltered ? 'Nothing matches.' : 'No objects.') : h(
      'table', {},
      h('thead', {}, h('tr', {}, ...COLUMNS.map((column) => h('th', { scope: 'col' }, HEADS[column])))),
      h('tbody', {}, ...lines.slice(0, MOST).flatMap((line) => [
        indented(h('tr', { class: classesOf(line) }, ...COLUMNS.map((column) => h(
          'td', { class: column }, ...contents(app, line, column)))), line),
        remediesOf(line),
      ])),
    ),
    left > 0 && h('p', {}, `${count(left, 'more line is', 'more lines are')} not printed: search or filter first.`),
    ...sections(view.sections, MOST),
  );
}

/** The story of a finding, and the commands that mend what is wrong. */
function remediesOf({ row, object }: Line): HTMLElement | false {
  const told = { ...row, story: object ? [] : row.story ?? [] };
  if (told.story.length === 0 && !row.commands?.length) return false;
  return h('tr', { class: 'remedies' }, h('td'), h('td', { colspan: 4 }, ...remedies([told], [], MOST)));
}
