// What is known of the selected object, or what the text says below the objects.
import type { App } from './app.ts';
import { copy, select } from './copy.ts';
import { button, h } from './dom.ts';
import { look, OUTSIDE, type Link, type Section } from './picture.ts';
import { symbol } from './symbol.ts';
import { moment } from './table.ts';
import { grouped } from './visible.ts';

/** So many owners, dependents and lines are listed at once. */
const AT_ONCE = 50;

/** The story of what is selected. */
export function story(app: App, close: () => void): HTMLElement[] {
  const { selected, forest } = app;
  if (!selected) return overview(app);
  const { node, object: index } = selected;
  const object = app.object(index);
  const row = forest.row(node);
  const fate = row?.fate ?? (object?.virtual ? 'missing' : 'untouched');
  const title = object ? `${object.kind}/${object.name}` : row?.title ?? '';
  const rows = index === undefined ? (row ? [row] : []) : app.view.rows.filter((row) => row.object === index && !row.more);
  const told = rows.flatMap((row) => row.story ?? []);
  const isTold = new Set(told.flatMap((section) => section.lines));
  const all = new Set([...rows.flatMap((row) => row.commands ?? []), ...(object?.commands ?? [])]);
  return [
    h('header', {},
      h('h2', { id: 'story-title', tabindex: -1 }, symbol(fate), h('bdi', {}, title)),
      button('×', { class: 'close', 'aria-label': 'Close the story', title: 'Close (Escape)' }, close)),
    h('p', { class: `ending fate-${fate}` },
      h('strong', {}, row ? row.word || (row.fate === 'untouched' ? '' : look(row.fate).word) : object?.virtual ? 'missing' : OUTSIDE),
      row?.detail ? h('span', {}, ` ${row.detail}`) : null,
      row || object?.virtual ? null : h('span', {}, ': it stands in no line here')),
    ...others(app, index),
    ...sections(told, AT_ONCE, (line) => (all.has(line) ? command(line) : undefined)),
    ...commands([...all].filter((command) => !isTold.has(command))),
    ...related(app, 'Owners', index, 'owner'),
    ...related(app, 'Dependents', index, 'dependent'),
    ...(index === undefined ? below(app, node) : []),
    ...metadata(app, index),
  ];
}

/** The sections of the text, if nothing is selected. */
function overview(app: App): HTMLElement[] {
  const { view } = app;
  const told = view.sections ?? [];
  const empty = view.rows.length === 0 && told.length === 0;
  const all = new Set(told.flatMap((section) => section.commands ?? []));
  return [
    h('header', {}, h('h2', { id: 'story-title', tabindex: -1 }, 'All in all')),
    ...(empty ? [h('p', { class: 'quiet' }, 'No objects.')] : []),
    ...sections(told, AT_ONCE, (line) => (all.has(line) ? command(line) : undefined)),
    ...(view.rows.length === 0 ? [] : [
      h('p', { class: 'quiet hint' }, 'Select an object for its story and its commands. Keys: ↑ ↓ or j k walk, → ← open ' +
        'and close, Enter selects, / searches, n finds what is stuck or loses data, t shows the table, p another policy, Esc goes back.'),
    ]),
  ];
}

/** Labels with their lines, as the text has them. A line may have a look of its own. */
export function sections(
  all: readonly Section[], atOnce = AT_ONCE, look: (line: string) => HTMLElement | undefined = () => undefined,
): HTMLElement[] {
  return all.filter((section) => section.lines.length > 0).map((section) => h(
    'section', {},
    h('h3', {}, section.label),
    listed(section.lines.length, (at) => look(section.lines[at]!) ?? h('bdi', {}, section.lines[at]!), atOnce),
  ));
}

/** A list that shows some of its lines, and more when asked. */
function listed(size: number, line: (at: number) => Node, atOnce = AT_ONCE): HTMLElement {
  const list = h('ul', {});
  const more = (): void => {
    list.querySelector('.more')?.remove();
    const from = list.childElementCount;
    const to = Math.min(size, from + atOnce);
    for (let at = from; at < to; at++) list.append(h('li', {}, line(at)));
    if (to === size) return;
    const next = button(`${grouped(Math.min(atOnce, size - to))} more of ${grouped(size - to)}`, {}, () => {
      more();
      // The button is gone: the keyboard goes on where the new lines begin.
      list.children[to]?.querySelector<HTMLElement>('button')?.focus();
    });
    list.append(h('li', { class: 'more' }, next));
  };
  more();
  return list;
}

/** What becomes of the object under the other policies. */
function others(app: App, index: number | undefined): HTMLElement[] {
  const { views } = app.picture;
  if (index === undefined || views.length < 2) return [];
  const items = views.map((view) => {
    const forest = app.forestOf(view);
    const row = forest.row(forest.rowOf(index));
    const isNow = view === app.view;
    return h(
      'li', { class: isNow ? 'now' : undefined, 'aria-current': isNow ? 'true' : undefined },
      h('span', { class: 'policy' }, view.name), symbol(row?.fate ?? 'untouched'),
      h('span', {}, row ? [row.word || look(row.fate).word, row.detail ?? ''].join(' ').trim() : OUTSIDE),
    );
  });
  return [h('section', {}, h('h3', {}, 'Under each policy'), h('ul', { class: 'policies' }, ...items))];
}

function commands(all: readonly string[]): HTMLElement[] {
  if (all.length === 0) return [];
  return [h('section', {}, h('h3', {}, all.length === 1 ? 'Command' : 'Commands'), ...all.map(command))];
}

/** A command with a button that copies it. */
function command(text: string): HTMLElement {
  const code = h('code', { tabindex: 0 }, text);
  const done = h('span', { role: 'status', class: 'done' });
  const press = async (): Promise<void> => {
    const isCopied = await copy(text);
    if (!isCopied) select(code);
    done.textContent = isCopied ? 'Copied.' : 'Selected: press Ctrl+C or ⌘C.';
  };
  return h('div', { class: 'command' }, code,
    h('div', {}, button('Copy', { 'aria-label': `Copy: ${text}` }, () => void press()), done));
}

/** Links to the owners or the dependents of an object. */
function related(app: App, label: string, index: number | undefined, end: 'owner' | 'dependent'): HTMLElement[] {
  if (index === undefined) return [];
  const links = end === 'owner' ? app.relations.owners(index) : app.relations.dependents(index);
  if (links.length === 0) return [];
  const item = (at: number): HTMLElement => {
    const link = app.picture.links[links[at]!]!;
    return h('span', { class: 'related' }, goTo(app, link[end]), h('span', { class: 'quiet' }, about(link, end)));
  };
  return [h('section', {}, h('h3', {}, `${label} (${grouped(links.length)})`), listed(links.length, item))];
}

/** What a reference says besides whom it names. */
function about(link: Link, end: 'owner' | 'dependent'): string {
  return [
    link.controller ? (end === 'owner' ? 'its controller' : 'controlled') : '',
    link.blocks ? 'blocking' : '',
    link.invalid ?? '',
    link.closesCycle ? 'closes a cycle' : '',
  ].filter((part) => part !== '').join(', ');
}

/** A link to an object's story. */
function goTo(app: App, index: number): HTMLElement {
  const object = app.picture.objects[index]!;
  const node = app.forest.rowOf(index);
  const row = app.forest.row(node);
  const namespace = object.namespace ? ` -n ${object.namespace}` : '';
  return button(
    h('span', {}, symbol(row?.fate ?? (object.virtual ? 'missing' : 'untouched')),
      h('bdi', {}, `${object.kind}/${object.name}${namespace}`)),
    { class: 'link' },
    () => app.select(node, index),
  );
}

/** What stands below a line that is no object. */
function below(app: App, node: number): HTMLElement[] {
  const { forest } = app;
  const nodes: number[] = [];
  const end = forest.place[node]! + forest.span[node]!;
  for (let at = forest.place[node]! + 1; at < end; at++) {
    if (forest.objectIndex(forest.order[at]!) !== undefined) nodes.push(forest.order[at]!);
  }
  if (nodes.length === 0) return [];
  return [h('section', {}, h('h3', {}, `Objects (${grouped(nodes.length)})`),
    listed(nodes.length, (at) => goTo(app, forest.row(nodes[at]!)!.object!)))];
}

function metadata(app: App, index: number | undefined): HTMLElement[] {
  const object = app.object(index);
  if (!object) return [];
  const entry = (term: string, text: string): HTMLElement[] =>
    text === '' ? [] : [h('dt', {}, term), h('dd', {}, h('bdi', {}, text))];
  const finalizers = object.finalizers ?? [];
  return [h(
    'section', {}, h('h3', {}, 'Metadata'),
    object.virtual ? h('p', {}, 'No object with this uid was read: only an owner reference names it.') : null,
    h('dl', {},
      ...entry('Kind', `${object.apiVersion} ${object.kind}`.trim()),
      ...entry('Name', object.name),
      ...entry('Namespace', object.namespace ?? ''),
      ...entry('Created', object.created ? `${moment(object.created)} UTC` : ''),
      ...entry('Terminating', object.terminating ? 'yes' : ''),
      ...entry('Finalizers', finalizers.join(', '))),
  )];
}
