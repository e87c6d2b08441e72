// What goes on paper: the verdict and the policy, every line that the filter leaves, and the sections of the text.
import type { App } from './app.ts';
import { h } from './dom.ts';
import { isActive } from './filter.ts';
import type { Row } from './picture.ts';
import { sections } from './story.ts';
import { symbol } from './symbol.ts';
import { cell, moment } from './table.ts';
import { count, grouped } from './visible.ts';

/** A browser lays out no more rows in a time that a person waits for. */
const MOST = 10_000;

/** The sheet of what is shown now. */
export function sheet(app: App): HTMLElement {
  const { view, forest, shown, state, picture } = app;
  const nodes: number[] = [];
  let left = 0;
  for (const node of forest.order) {
    if (forest.isFold(node) || (shown && !(shown.keep[node]! & 1))) continue;
    if (nodes.length < MOST) nodes.push(node);
    else left += 1;
  }
  const filter = [
    state.search.trim() === '' ? '' : `search “${state.search.trim()}”`,
    ...[...state.fates].map((fate) => `state ${fate}`),
    state.kind === '' ? '' : `kind ${state.kind}`,
    state.namespace === undefined ? '' : state.namespace === '' ? 'without namespace' : `namespace ${state.namespace}`,
  ].filter((part) => part !== '').join(', ');
  const heads = ['State', 'Object', 'Namespace', 'Detail', 'Created (UTC)'];
  return h(
    'div', { id: 'sheet' },
    view.name === '' ? null : h('p', {}, `Propagation policy: ${view.name}`),
    isActive(state) ? h('p', {}, `Only what matches: ${filter}: ` +
      `${grouped(nodes.length + left)} of ${count(view.rows.length, 'line')}.`) : null,
    nodes.length === 0 ? h('p', {}, picture.objects.length === 0 ? 'No objects.' : 'No line matches.') : h(
      'table', {},
      h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...nodes.flatMap((node) => {
        const row = forest.row(node)!;
        const object = forest.object(node);
        const entry = { node, row, object, index: forest.objectIndex(node) };
        const title = h('td', { class: 'title' }, h('bdi', {}, row.title));
        // Members of a fold stand a level deeper than on paper, which folds nothing.
        title.style.setProperty('--depth', String(Math.min(depthOf(app, node), 8)));
        const line = h('tr', {},
          h('td', { class: `state fate-${row.fate}` }, symbol(row.fate), cell(entry, 'state')),
          title,
          h('td', {}, h('bdi', {}, object?.namespace ?? '')),
          h('td', {}, h('bdi', {}, row.detail ?? '')),
          h('td', {}, moment(object?.created)));
        return [line, ...remedies(row)];
      })),
    ),
    left > 0 ? h('p', {}, `${count(left, 'more line is', 'more lines are')} not printed: search or filter first.`) : null,
    ...sections(view.sections ?? [], MOST),
  );
}

/** What a finding says besides its first line, and the commands that mend what is wrong. */
function remedies(row: Row): HTMLElement[] {
  const story = row.object === undefined ? row.story ?? [] : [];
  const all = new Set(row.commands);
  const told = sections(story, MOST, (line) => (all.has(line) ? h('pre', {}, line) : undefined));
  const isTold = new Set(story.flatMap((section) => section.lines));
  const commands = [...all].filter((command) => !isTold.has(command)).map((command) => h('pre', {}, command));
  if (told.length + commands.length === 0) return [];
  return [h('tr', { class: 'remedies' }, h('td', {}), h('td', { colspan: 4 }, ...told, ...commands))];
}

/** How many owners a line stands below. */
function depthOf(app: App, node: number): number {
  const { forest } = app;
  let depth = 0;
  for (let above = forest.parent[node]!; above >= 0 && depth < 8; above = forest.parent[above]!) {
    if (!forest.isFold(above)) depth += 1;
  }
  return depth;
}
