// What is known of the selected line, what the text says below the objects, and what goes on paper.
import { FILTERS, forest, forests, line, object, selectObject, state, type Column } from './app.ts';
import { count, data, grouped, textOf, titleOf, type Section, type Story } from './data.ts';
import { bdi, colour, h, symbol } from './dom.ts';
import { contents, drawn, head } from './lines.ts';

/** So many owners, dependents and lines are listed at once. */
const AT_ONCE = 50;
/** A browser lays out no more rows on paper in a time that a person waits for. */
const MOST = 10_000;

const KEYS = 'Select an object for its story and commands. Keys: ↑ ↓ or j k walk, → ← open and close, * opens all, ' +
  'Enter selects, / searches, n finds what is stuck or loses data, t shows the table, p another policy, Esc goes back.';

/** The story of what is selected, or the sections of the text. */
export function story(close: () => void): HTMLElement[] {
  const { rows, sections: all } = forest.view;
  if (object < 0 && line < 0) {
    return [
      h('h2', 'All in all'),
      ...sections(all),
      h('p.quiet.hint', KEYS),
    ];
  }
  const { name, commands } = data.objects;
  const { fate, word, detail } = forest.endOf(object, line);
  const ofObject = rows.object.flatMap((other, row) => (other === object + 1 && !rows.more[row] ? [row] : []));
  const below = object < 0 ? forest.below(line).lines.map(forest.own).filter((object) => object >= 0) : [];
  const shown = (data.commands[commands[object] ?? 0] ?? []).map((parts) => parts.join(name[object]));
  return [
    h('header',
      h('h2', symbol(fate), bdi(object < 0 ? forest.title(line) : titleOf(object))),
      h('button.close', { click: close, 'aria-label': 'Close the story', title: 'Close (Escape)' }, '×')),
    h(`p.${colour(fate)}`, h('strong', word), ` ${detail}`),
    underEachPolicy(),
    ...remedies((object < 0 ? [forest.row[line]!] : ofObject).map(storyOf), shown),
    references('Owners', 'dependent', 'owner'),
    references('Dependents', 'owner', 'dependent'),
    section(`Objects (${grouped(below.length)})`, below.length, (at) => linkTo(below[at]!)),
    metadata(),
  ];
}

function underEachPolicy(): HTMLElement {
  const all = object < 0 || forests.length < 2 ? [] : forests;
  return section('Under each policy', all.length, (at) => {
    const { view, endOf } = all[at]!;
    const { fate, word, detail } = endOf(object);
    return h('div.policy', { 'aria-current': all[at] === forest && 'true' },
      h('span', view.name), symbol(fate), h('span', `${word} ${detail}`));
  });
}

/** The references from or to the object. */
function references(label: string, own: 'owner' | 'dependent', other: 'owner' | 'dependent'): HTMLElement {
  const { links, abouts } = data;
  const found = links[own].flatMap((end, link) => (end === object ? [link] : []));
  return section(`${label} (${grouped(found.length)})`, found.length, (at) => h('span',
    linkTo(links[other][found[at]!]!),
    h('span.quiet', abouts[links.about[found[at]!]!]![other === 'owner' ? 0 : 1])));
}

/** A link to an object's story. */
function linkTo(object: number): HTMLElement {
  return h('button.link', { click: () => selectObject(object) },
    symbol(forest.endOf(object).fate), bdi(titleOf(object, true)));
}

function storyOf(row: number): Story {
  return data.stories[forest.view.rows.story[row]!]!;
}

/** What is said besides lines, and the commands that this doesn't name. */
function remedies(stories: readonly Story[], more: readonly string[], atOnce = AT_ONCE): HTMLElement[] {
  const told = stories.flatMap(({ sections }) => sections);
  const isTold = new Set(told.flatMap(({ lines }) => lines));
  const commands = [...new Set([...stories.flatMap(({ commands }) => commands), ...more])];
  const lines = commands.filter((command) => !isTold.has(command));
  return sections([...told, { label: 'Commands', lines, commands }], atOnce);
}

/** Labels with their lines, as the text has them. Commands have a button that copies them. */
function sections(all: readonly Section[], atOnce = AT_ONCE): HTMLElement[] {
  const commands = new Set(all.flatMap((section) => section.commands ?? []));
  return all.map(({ label, lines }) => section(label, lines.length, (at) => {
    const line = lines[at]!;
    return commands.has(line) ? command(line) : bdi(line);
  }, atOnce));
}

/** A heading with a list that shows some of its lines, and more when asked. Without lines it is hidden. */
function section(label: string, size: number, line: (at: number) => HTMLElement, atOnce = AT_ONCE): HTMLElement {
  const list = h('ul');
  const more = (): void => {
    const from = list.childElementCount;
    const to = Math.min(size, from + atOnce);
    for (let at = from; at < to; at++) list.append(h('li', line(at)));
    if (to === size) next.remove();
    else next.textContent = `${grouped(Math.min(atOnce, size - to))} more of ${grouped(size - to)}`;
    // The keyboard goes on where the new lines begin.
    if (from > 0) list.children[from]!.querySelector<HTMLElement>('button')?.focus();
  };
  const next = h('button', { click: more });
  const made = h('section', { hidden: size === 0 }, h('h3', label), list, next);
  more();
  return made;
}

/** A command with a button that copies it. */
function command(text: string): HTMLElement {
  const code = h('code', { tabindex: 0 }, text);
  const done = h('span.done', { role: 'status' });
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
  return h('div.command', code,
    h('div', h('button', { click: () => void copy(), 'aria-label': `Copy: ${text}` }, 'Copy'), done));
}

function metadata(): HTMLElement {
  const { apiVersion, kind, namespace, name, created, finalizers, flags } = data.objects;
  const time = textOf(created, object);
  const entries = Object.entries({
    Kind: `${textOf(apiVersion, object)} ${textOf(kind, object)}`, Name: name[object],
    Namespace: textOf(namespace, object), Created: time && `${time} UTC`, Terminating: flags[object]! & 1 ? 'yes' : '',
    Finalizers: textOf(finalizers, object),
  }).filter(([, text]) => text);
  return h('section', { hidden: object < 0 }, h('h3', 'Metadata'),
    (flags[object]! & 2) > 0 && h('p', 'No object with this uid was read: only an owner reference names it.'),
    h('dl', ...entries.flatMap(([term, text]) => [h('dt', term), h('dd', bdi(text!))])));
}

/** What is said where no lines are. */
export function nothing(): string {
  return forest.isFiltered ? 'Nothing matches: clear the search or the filters.' : 'No objects.';
}

/** What goes on paper now: the policy, every line that the filter leaves, and the sections of the text. */
export function sheet(): HTMLElement {
  const { name, rows, sections: all } = forest.view;
  const columns: Column[] = ['state', 'object', 'namespace', 'detail', 'created'];
  const filter = FILTERS.filter((name) => state[name] !== '').map((name) => `${name} ${state[name]}`).join(', ');
  const lines = [...forest.matches.keys()].filter((line) => forest.matches[line]);
  const left = lines.length - MOST;
  return h(
    'div', { id: 'sheet' },
    name !== '' && h('p', `Propagation policy: ${name}`),
    forest.isFiltered && h('p', `Only what matches: ${filter}: ` +
      `${grouped(lines.length)} of ${count(rows.fate.length, 'line')}.`),
    lines.length === 0 ? h('p', nothing()) : h(
      'table',
      h('thead', h('tr', ...columns.map((column) => h('th', { scope: 'col' }, head(column))))),
      h('tbody', ...lines.slice(0, MOST).flatMap((line) => {
        const { sections, commands } = storyOf(forest.row[line]!);
        // Of an object, only what mends it.
        const said = { sections: forest.object(line) < 0 ? sections : [], commands };
        return [
          drawn('tr', line, ...columns.map((column) => h(`td.${column}`, ...contents(line, column)))),
          ...said.sections.length + commands.length === 0 ? [] : [
            h('tr', h('td'), h('td', { colspan: 4 }, ...remedies([said], [], MOST)))],
        ];
      })),
    ),
    left > 0 && h('p', `${count(left, 'more line is', 'more lines are')} not printed: search or filter first.`),
    ...sections(all, MOST),
  );
}
