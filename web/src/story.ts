// What is known of the selected object, or what the text says below the objects.
import { endOf, type App } from './app.ts';
import { bdi, button, grouped, h, symbol } from './dom.ts';
import { walk } from './forest.ts';
import { moment, titleOf, type KubeObject, type Row, type Section } from './picture.ts';

/** So many owners, dependents and lines are listed at once. */
const AT_ONCE = 50;

const KEYS = 'Select an object for its story and its commands. Keys: ↑ ↓ or j k walk, → ← open and close, * opens ' +
  'all, Enter selects, / searches, n finds what is stuck or loses data, t shows the table, p another policy, Esc goes ' +
  'back.';

type End = 'owner' | 'dependent';

/** The story of what is selected. */
export function story(app: App, close: () => void): HTMLElement[] {
  const line = app.selected;
  if (!line) return overview(app);
  const { row, index } = line;
  const object = index === undefined ? undefined : line.object;
  const rows = app.view.rows.filter((other) => other === row || (object && other.object === index && !other.more));
  const below = object ? [] : walk(line.children, () => true).filter((line) => line.index !== undefined);
  /** The references from or to it. */
  const related = (label: string, own: End, other: End, is: string): HTMLElement => {
    const links = app.picture.links.filter((link) => link[own] === index);
    return section(`${label} (${grouped(links.length)})`, links.length, (at) => {
      const { controller, blocks, invalid, closesCycle, [other]: to } = links[at]!;
      const about = [controller && is, blocks && 'blocking', invalid, closesCycle && 'closes a cycle'];
      return h('span', {}, linkTo(app, to), h('span', { class: 'quiet' }, about.filter(Boolean).join(', ')));
    });
  };
  return [
    h('header', {},
      h('h2', { id: 'story-title' }, symbol(row.fate), bdi(object ? titleOf(object) : row.title)),
      button('×', { class: 'close', 'aria-label': 'Close the story', title: 'Close (Escape)' }, close)),
    h('p', { class: `fate-${row.fate}` },
      h('strong', {}, row.word || row.fate !== 'untouched' ? endOf(line) : ''), ` ${row.detail ?? ''}`),
    underEachPolicy(app, index),
    ...remedies(rows, object?.commands),
    related('Owners', 'dependent', 'owner', 'its controller'),
    related('Dependents', 'owner', 'dependent', 'controlled'),
    section(`Objects (${grouped(below.length)})`, below.length, (at) => linkTo(app, below[at]!.index!)),
    metadata(object),
  ];
}

/** The sections of the text, if nothing is selected. */
function overview({ view }: App): HTMLElement[] {
  return [
    h('header', {}, h('h2', { id: 'story-title' }, 'All in all')),
    ...sections(view.sections),
    h('p', { class: 'quiet hint' }, view.rows.length === 0 ? 'No objects.' : KEYS),
  ];
}

/** What rows say besides their lines, and the commands that this doesn't name. */
export function remedies(rows: readonly Row[], more: readonly string[] = [], atOnce = AT_ONCE): HTMLElement[] {
  const told = rows.flatMap((row) => row.story ?? []);
  const isTold = new Set(told.flatMap((section) => section.lines));
  const commands = [...new Set([...rows.flatMap((row) => row.commands ?? []), ...more])];
  const others = { label: 'Commands', lines: commands.filter((text) => !isTold.has(text)) };
  return sections([...told, { ...others, commands }], atOnce);
}

/** Labels with their lines, as the text has them. Commands have a button that copies them. */
export function sections(all: readonly Section[] = [], atOnce = AT_ONCE): HTMLElement[] {
  const commands = new Set(all.flatMap((section) => section.commands ?? []));
  return all.map(({ label, lines }) => section(label, lines.length, (at) => {
    const line = lines[at]!;
    return commands.has(line) ? command(line) : bdi(line);
  }, atOnce));
}

/** A heading with a list that shows some of its lines, and more when asked. Without lines it is hidden. */
function section(label: string, size: number, line: (at: number) => HTMLElement, atOnce = AT_ONCE): HTMLElement {
  const list = h('ul', {});
  const more = (): void => {
    const from = list.childElementCount;
    const to = Math.min(size, from + atOnce);
    for (let at = from; at < to; at++) list.append(h('li', {}, line(at)));
    if (to === size) next.remove();
    else next.textContent = `${grouped(Math.min(atOnce, size - to))} more of ${grouped(size - to)}`;
    // The keyboard goes on where the new lines begin.
    if (from > 0) list.children[from]!.querySelector<HTMLElement>('button')?.focus();
  };
  const next = button(null, { class: 'more' }, more);
  const made = h('section', { hidden: size === 0 }, h('h3', {}, label), list, next);
  more();
  return made;
}

/** A command with a button that copies it. */
function command(text: string): HTMLElement {
  const code = h('code', { tabindex: 0 }, text);
  const done = h('span', { role: 'status', class: 'done' });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      done.textContent = 'Copied.';
    } catch {
      // A frame or an old browser may forbid it.
      getSelection()?.selectAllChildren(code);
      done.textContent = 'Selected: press Ctrl+C or ⌘C.';
    }
  };
  return h('div', { class: 'command' }, code,
    h('div', {}, button('Copy', { 'aria-label': `Copy: ${text}` }, () => void copy()), done));
}

/** A link to an object's story. */
function linkTo(app: App, index: number): HTMLElement {
  const line = app.forest.lineOf(index);
  const name = h('span', {}, symbol(line.row.fate), bdi(titleOf(line.object!, true)));
  return button(name, { class: 'link' }, () => app.select(line));
}

function underEachPolicy(app: App, index: number | undefined): HTMLElement {
  const views = index === undefined || app.picture.views.length < 2 ? [] : app.picture.views;
  return section('Under each policy', views.length, (at) => {
    const line = app.forestOf(views[at]!).lineOf(index!);
    return h('div', { class: 'policy', 'aria-current': views[at] === app.view && 'true' },
      h('span', {}, views[at]!.name), symbol(line.row.fate), h('span', {}, `${endOf(line)} ${line.row.detail ?? ''}`));
  });
}

function metadata(object: KubeObject | undefined): HTMLElement {
  const { apiVersion, kind, name, namespace, created, terminating, finalizers, virtual } = object ?? {};
  const entries = Object.entries({
    Kind: `${apiVersion ?? ''} ${kind}`, Name: name, Namespace: namespace, Created: created && `${moment(created)} UTC`,
    Terminating: terminating && 'yes', Finalizers: finalizers?.join(', '),
  }).filter(([, text]) => text);
  return h('section', { hidden: !object }, h('h3', {}, 'Metadata'),
    virtual && h('p', {}, 'No object with this uid was read: only an owner reference names it.'),
    h('dl', {}, ...entries.flatMap(([term, text]) => [h('dt', {}, term), h('dd', {}, bdi(String(text)))])));
}
