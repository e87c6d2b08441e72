// What is known of the selected line, or what the text says below the objects.
import { forest, forests, go, isPaper, line, lines, MOST_PRINTED, object, placeOf } from './app.ts';
import { data, grouped, textOf, titleOf, type Section, type Story } from './data.ts';
import { colour, fill, h, symbol, type Part } from './dom.ts';

/** So many owners, dependents and lines are listed at once. */
const AT_ONCE = 50;

const KEYS = 'Select an object for its story and commands. Keys: ↑ ↓ or j k walk, → ← open and close, * opens all, ' +
  'Enter selects, / searches, n finds what is stuck or loses data, t shows the table, p another policy, Esc goes back.';

export function story(close: () => void): HTMLElement[] {
  const { rows, sections: all } = forest.view;
  if (isPaper) {
    const told = lines.slice(0, MOST_PRINTED).filter((line) => rows.story[line]);
    const what = (line: number): HTMLElement => h('h2', forest.cell(line, 'object'));
    return [...sections(all), ...told.flatMap((line) => [what(line), ...remedies([storyOf(line)], [])])];
  }
  if (object < 0 && line < 0) return [h('h2', 'All in all'), ...sections(all), h('p.quiet.hint', KEYS)];
  const { name, commands } = data.objects;
  const [fate, word, detail] = forest.endOf(object, line);
  const ofObject = rows.object.flatMap((other, row) => (other === object + 1 && !rows.more[row] ? [row] : []));
  const below = Array.from({ length: object < 0 ? forest.end[line]! - line - 1 : 0 }, (_, at) => line + 1 + at);
  const policies = object < 0 || forests.length < 2 ? [] : forests;
  return [
    h('header',
      h('h2', symbol(fate), h('bdi', object < 0 ? forest.cell(line, 'object') : titleOf(object))),
      h('button.close', { click: close, 'aria-label': 'Close the story', title: 'Close (Escape)' }, '×')),
    h(`p.${colour(fate)}`, h('strong', word), ` ${detail}`),
    section('Under each policy', policies, ({ view, endOf }) => {
      const [fate, ...said] = endOf(object);
      return pair(view.name, { 'aria-current': view === forest.view && 'true' }, symbol(fate), said.join(' '));
    }),
    ...remedies((object < 0 ? [line] : ofObject).map(storyOf),
      data.commands[commands[object] ?? 0]!.map((parts) => parts.join(name[object]))),
    references('Owners', 'dependent', 'owner'),
    references('Dependents', 'owner', 'dependent'),
    section(`Objects (${grouped(below.length)})`, below.map(forest.own).filter((object) => object >= 0), linkTo),
    metadata(),
  ];
}

/** The references from or to the object. */
function references(label: string, own: 'owner' | 'dependent', other: 'owner' | 'dependent'): HTMLElement {
  const { links, abouts } = data;
  const found = links[own].flatMap((end, link) => (end === object ? [link] : []));
  return section(`${label} (${grouped(found.length)})`, found, (link) => h('span',
    linkTo(links[other][link]!), h('span.quiet', abouts[links.about[link]!]![other === 'owner' ? 0 : 1])));
}

/** A link to an object's story. */
function linkTo(object: number): HTMLElement {
  return h('button.link', { click: () => go({ at: placeOf[object]! }) },
    symbol(forest.endOf(object)[0]), h('bdi', titleOf(object, true)));
}

function storyOf(row: number): Story {
  return data.stories[forest.view.rows.story[row]!]!;
}

/** What is said besides lines, and the commands that this doesn't name. */
function remedies(stories: readonly Story[], more: readonly string[]): HTMLElement[] {
  const told = stories.flatMap(({ sections }) => sections);
  const isTold = new Set(told.flatMap(({ lines }) => lines));
  const commands = [...new Set([...stories.flatMap(({ commands }) => commands), ...more])];
  const lines = commands.filter((command) => !isTold.has(command));
  return sections([...told, { label: 'Commands', lines, commands }]);
}

/** Labels with their lines, as the text has them. Commands have a button that copies them. */
function sections(all: readonly Section[]): HTMLElement[] {
  const commands = new Set(all.flatMap((section) => section.commands ?? []));
  return all.map(({ label, lines }) =>
    section(label, lines, (line) => (commands.has(line) ? command(line) : h('bdi', line))));
}

/** A heading with a list that shows some of its items, and more when asked. Without items it is hidden. */
function section<T>(label: string, items: readonly T[], drawn: (item: T) => HTMLElement): HTMLElement {
  const list = h('ul');
  const next = h('button', { click: more });
  function more(): void {
    const shown = list.childElementCount;
    const now = items.slice(shown, isPaper ? items.length : shown + AT_ONCE);
    list.append(...now.map((item) => h('li', drawn(item))));
    const left = items.length - shown - now.length;
    fill(next, { hidden: left === 0 }, `${grouped(left)} more`);
  }
  more();
  return h('section', { hidden: items.length === 0 }, h('h3', label), list, next);
}

/** A command with a button that copies it. */
function command(text: string): HTMLElement {
  const code = h('code', { tabindex: 0 }, text);
  const done = h('span.done', { role: 'status' });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      fill(done, 'Copied.');
    } catch {
      // A frame or an old browser may forbid it.
      getSelection()?.selectAllChildren(code);
      fill(done, 'Selected: press Ctrl+C or ⌘C.');
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
    Missing: flags[object]! & 2 ? 'No object with this uid was read: only an owner reference names it.' : '',
  }).filter(([, text]) => text);
  return section('Metadata', object < 0 ? [] : entries, ([term, text]) => pair(term, h('bdi', text!)));
}

/** A word, and what is said of it. */
function pair(word: string, ...said: Part[]): HTMLElement {
  return h('div.pair', h('span.quiet', word), h('span', ...said));
}
