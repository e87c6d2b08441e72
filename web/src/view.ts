// What stands around the list: the verdict, the facts, the bar, the foot; and the story of what is
// chosen.
import { chosen, forest, forests, go, isTable, line, linkOf, object } from './main.ts';
import { data, grouped, placeOf, textOf, titleOf, type Section } from './data.ts';
import { fill, find, h, joined, pill, type Part } from './dom.ts';

/** So many findings have a box, and so many objects are named for each reason. */
const BOXES = 12;
const NAMES = 4;
/** So many other objects are named, and so many lines are shown at once; then comes a number. */
const NAMED = 8;

export const search = find<HTMLInputElement>('#search');
const bar = find<HTMLFormElement>('#bar');
bar.addEventListener('input', () => {
  const off = [...bar.querySelectorAll<HTMLInputElement>('[type=checkbox]:not(:checked)')];
  const said = Object.fromEntries(new FormData(bar)) as Record<string, string>;
  go({ ...said, off: off.map(({ value }) => value).join(' ') });
});

export function showHead(): void {
  const { name, verdict, reasons, facts, notes, numbers } = forest.view;
  const other = `Shown: --cascade=${name}, which is not what the command asked for. `;
  const [from, more] = [[data.title, data.source, data.program], forest.findings.length - BOXES];
  fill(find('#head'),
    h('p.quiet', ...joined(from.map((text) => h('bdi', text)), ' · ')),
    h('h1', verdict !== undefined && pill(verdict.fate, verdict.word), ' ',
      h('bdi', verdict?.sentence ?? data.title)),
    h('p', forest !== forests[data.shown] && other, h('bdi', reasons)),
    h('div.facts',
      ...forest.findings.slice(0, BOXES).map((line) => h('section', ...card(line))),
      more > 0 && h('p', `${grouped(more)} more below`), ...facts.map(section)));
  fill(find('#notes'), ...notes.map(section));
  if (search.value !== chosen.q) search.value = chosen.q;
  find<HTMLInputElement>(isTable() ? '#v-table' : '#v-tree').checked = true;
  fill(find('#policies'), { hidden: forests.length < 2 }, h('legend', 'Policy'),
    ...forests.map(policy));
  const off = chosen.off.split(' ');
  fill(find('#states'), h('legend', 'Show'), ...data.states.map(({ name }, fate) => {
    const [id, checked, of] = [`state-${name}`, !off.includes(name), numbers[fate]!];
    // One that doesn't occur stays as it is.
    return h('label', { hidden: of === 0 },
      h('input', { type: 'checkbox', value: name, id, checked }), pill(fate), grouped(of));
  }));
  const meanings = data.states.map(({ symbol, word, meaning }, fate) =>
    numbers[fate]! > 0 && `${symbol} ${word}: ${meaning}`);
  fill(find('#meanings'), meanings.filter(Boolean).join(' · '));
}

/** A policy, with how many objects end in each state. */
function policy({ view: { name, numbers, lost } }: typeof forest): HTMLElement {
  const ends = [...data.states, { symbol: '!', word: 'lose data', tone: 'error' }];
  const checked = name === forest.view.name;
  return h('label',
    h('input', { type: 'radio', name: 'p', value: name, id: `p-${name}`, checked }), name,
    ...[...numbers, lost].map((of, end) => {
      const { symbol, word, tone } = ends[end]!;
      return of > 0 && h(`span.${tone}`, { title: word }, `${symbol} ${grouped(of)}`,
        h('span.unseen', ` ${word}`));
    }));
}

export function story(): Part[] {
  if (line < 0 && object < 0) return [h('p.quiet', find('aside').dataset['hint']!)];
  const { name, namespace, kind, created, finalizers, flags, commands } = data.objects;
  const { owner, dependent, about } = data.links;
  const isMissing = (flags[object]! & 2) > 0;
  const path = pathOf(object);
  const others = ends(dependent, object).filter((link) => owner[link] !== path.at(-1));
  const kinds = Map.groupBy(ends(owner, object), (link) => textOf(kind, dependent[link]!));
  const below = [...kinds].map(([kind, { length }]) => `${kind} (${grouped(length)})`);
  const pairs = (end: 0 | 1): Part[] => named(
    forest.view.waits.filter((pair) => pair[end] === object).map((pair) => pair[1 - end]!), linkTo);
  const time = textOf(created, object);
  const facts: Record<string, Part[]> = {
    Namespace: [textOf(namespace, object)],
    Under: joined(path.map(linkTo), ' › '),
    'Also owned by': named(others, (link) =>
      h('span', linkTo(owner[link]!), ` ${data.abouts[about[link]!]}`)),
    'Waits for': pairs(0),
    'Holds up': pairs(1),
    'Held by': [textOf(finalizers, object)],
    'Below it': [below.join(', ')],
    Created: [time && `${time} UTC`],
    Missing: [isMissing && 'No object with this uid was read: only an owner reference names it.'],
  };
  const terms = h('dl', ...Object.entries(facts).flatMap(([term, said]) =>
    said.some(Boolean) ? [h('dt', term), h('dd', ...said)] : []));
  const show = data.commands[commands[object] ?? 0]!.map((parts) => parts.join(name[object]));
  return [
    h('button.close', { onclick: () => go({ o: '' }), ariaLabel: 'Close the story' }, '×'),
    ...line >= 0 ? card(line, terms) : [
      h('span.quiet', isMissing ? 'missing' : 'not in this view'), h('h2', titleOf(object)), terms,
    ],
    section({ label: 'Commands', lines: show, commands: show }),
  ];
}

/** What is said of a line: what becomes of it, and why; and what to do. */
function card(line: number, terms: Part = false): Part[] {
  const { state, object, detail } = forest.said(line);
  const { fate, story, object: objects } = forest.view.rows;
  // An object may have several lines.
  const same = objects[line] ? ends(objects, objects[line]) : [line];
  return [
    state && pill(fate[line]!, state), ' ', h('h2', h('bdi', object)), h('p', h('bdi', detail)),
    terms, ...same.flatMap((row) => data.stories[story[row]!]!).map(section),
  ];
}

/** Where in a column an object stands. */
const ends = (column: number[], object: number): number[] =>
  column.flatMap((at, place) => (at === object ? [place] : []));

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

/** Some of these, and how many more there are. */
function named(all: number[], drawn: (one: number) => Part, most = NAMED): Part[] {
  const more = all.length - most;
  return [...joined(all.slice(0, most).map(drawn), ', '), more > 0 && ` and ${grouped(more)} more`];
}

const linkTo = (object: number): HTMLElement =>
  h('a', { href: linkOf({ o: placeOf[object]!, q: '' }) }, h('bdi', titleOf(object)));

/** A label with some of its lines, and a button for more. */
function section({ label, lines, commands = [], objects = [] }: Section): HTMLElement {
  const list = h('ul');
  const next = h('button', { onclick: more });
  function more(): void {
    const at = list.childElementCount;
    const left = lines.length - at - NAMED;
    list.append(...lines.slice(at, at + NAMED).map((line, place) => h('li',
      ...named(objects[at + place] ?? [], linkTo, NAMES),
      commands.includes(line) ? command(line) : h('bdi', line))));
    fill(next, { hidden: left <= 0 }, `${grouped(left)} more`);
  }
  more();
  return h('section', { hidden: lines.length === 0 }, h('h2', label), list, next);
}

/** A command with a button that copies it. */
function command(text: string): HTMLElement {
  const code = h('code', { tabIndex: 0 }, text);
  const button = h('button', { onclick: copy, title: text }, 'Copy');
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
