// What is known of the chosen line, and how sections and commands are shown.
import { forest, go, line, linkOf, object, placeOf } from './app.ts';
import { data, grouped, textOf, titleOf, type Section } from './data.ts';
import { fill, h, pill, type Part } from './dom.ts';

/** So many objects are named, and so many lines are shown at once; then comes a number. */
const NAMED = 8;
const HINT = 'Choose an object to read its story, or press n for the next one that is stuck or ' +
  'loses data.';
const MISSING = 'No object with this uid was read: only an owner reference names it.';

export function story(): Part[] {
  if (line < 0 && object < 0) return [h('p.quiet', HINT)];
  const { rows, waits } = forest.view;
  const { name, namespace, kind, created, finalizers, flags, commands } = data.objects;
  const { owner, dependent, about } = data.links;
  const isMissing = object >= 0 && (flags[object]! & 2) > 0;
  const word = line >= 0 ? forest.cell(line, 'state') : isMissing ? 'missing' : 'not in this view';
  const ofObject = rows.object.flatMap((other, row) => (other === object + 1 ? [row] : []));
  const told = (object < 0 ? [line] : ofObject).flatMap((row) => data.stories[rows.story[row]!]!);
  const show = data.commands[commands[object] ?? 0]!.map((parts) => parts.join(name[object]));
  const path = pathOf(object);
  const others = ends(dependent, object).filter((link) => owner[link] !== path.at(-1));
  const kinds = new Map<string, number>();
  for (const link of ends(owner, object)) {
    const of = textOf(kind, dependent[link]!);
    kinds.set(of, (kinds.get(of) ?? 0) + 1);
  }
  const [waitsFor, holdsUp] = [0, 1].map((end) =>
    waits.flatMap((pair) => (pair[end] === object ? [pair[1 - end]!] : [])));
  const time = textOf(created, object);
  return [
    h('button.close', { click: () => go({ o: '' }), 'aria-label': 'Close the story' }, '×'),
    h('p', line >= 0 ? word && pill(rows.fate[line]!, word) : h('span.quiet', word)),
    h('h2', h('bdi', object < 0 ? forest.cell(line, 'object') : titleOf(object))),
    h('p', h('bdi', line < 0 ? '' : textOf(rows.detail, line))),
    h('dl',
      ...pair('Namespace', textOf(namespace, object)),
      ...pair('Under', ...path.flatMap((owner, at) => [at > 0 && ' › ', linkTo(owner)])),
      ...pair('Also owned by', ...named(others, (link) =>
        h('span', linkTo(owner[link]!), ` ${data.abouts[about[link]!]}`))),
      ...pair('Waits for', ...named(waitsFor!, linkTo)),
      ...pair('Holds up', ...named(holdsUp!, linkTo)),
      ...pair('Held by', textOf(finalizers, object)),
      ...pair('Below it', [...kinds].map(([kind, of]) => `${kind} (${grouped(of)})`).join(', ')),
      ...pair('Created', time && `${time} UTC`),
      ...pair('Missing', isMissing && MISSING)),
    ...[...told, { label: 'Commands', lines: show, commands: show }].map(section),
  ];
}

/** The references at one end of which an object stands. */
function ends(column: number[], object: number): number[] {
  return column.flatMap((at, link) => (at === object ? [link] : []));
}

/** The nearest owners of an object, the farthest first: of several the one that it stands below. */
function pathOf(object: number): number[] {
  const path: number[] = [];
  for (let at = object; path.length < NAMED;) {
    const above = forest.view.rows.object[forest.parent[forest.lineOf[at]!]!]! - 1;
    const owners = ends(data.links.dependent, at).map((link) => data.links.owner[link]!);
    at = owners.includes(above) ? above : owners[0] ?? -1;
    if (at < 0 || at === object || path.includes(at)) break;
    path.unshift(at);
  }
  return path;
}

function pair(term: string, ...said: Part[]): HTMLElement[] {
  return said.some((part) => part) ? [h('dt', term), h('dd', ...said)] : [];
}

/** Some of these, and how many more there are. */
export function named(all: number[], drawn: (one: number) => Part, most = NAMED): Part[] {
  const more = all.length - most;
  return [
    ...all.slice(0, most).flatMap((one, at) => [at > 0 && ', ', drawn(one)]),
    more > 0 && ` and ${grouped(more)} more`,
  ];
}

/** A link to an object's story. */
export function linkTo(object: number): HTMLElement {
  return h('a', { href: linkOf({ o: placeOf[object]!, q: '' }) }, h('bdi', titleOf(object)));
}

/** A label with its lines, as the text has them. Commands have a button that copies them. */
export function section({ label, lines, commands = [] }: Section): HTMLElement {
  return box(label, lines, (line) => [commands.includes(line) ? command(line) : h('bdi', line)]);
}

/** A label with some of these, and a button for more. */
export function box<T>(label: string, all: T[], drawn: (one: T) => Part[]): HTMLElement {
  const list = h('ul');
  const next = h('button', { click: more });
  function more(): void {
    const left = all.slice(list.childElementCount);
    list.append(...left.slice(0, NAMED).map((one) => h('li', ...drawn(one))));
    const over = left.length - NAMED;
    fill(next, { hidden: over <= 0 }, over > 0 && `${grouped(over)} more`);
  }
  more();
  return h('section', { hidden: all.length === 0 }, h('h2', label), list, next);
}

function command(text: string): HTMLElement {
  const code = h('code', { tabindex: 0 }, text);
  const button = h('button', { click: () => void copy() }, 'Copy', h('span.unseen', `: ${text}`));
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      fill(button, 'Copied');
    } catch {
      // A frame or an old browser may forbid it.
      getSelection()?.selectAllChildren(code);
      fill(button, 'Selected: press Ctrl+C or ⌘C');
    }
  }
  return h('div.command', code, button);
}
