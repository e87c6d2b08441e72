// The page: reads the picture that stands in it, shows it, and does what mouse and keyboard ask for.
import {
  forest, forests, go, isPaper, isTable, line, lines, MOST_PRINTED, nextWorst, object, print, select, start, state,
  toggle, type State,
} from './app.ts';
import { data, fateOf, grouped, isFinding, type Data } from './data.ts';
import { colour, fill, h, symbol, type Part } from './dom.ts';
import type { Forest } from './forest.ts';
import { activate, activeLine, list, move, showLines } from './list.ts';
import { story } from './story.ts';

/** What keys do, also to the active line. */
type Keys = Record<string, (line: number) => unknown>;

const live = h('p.unseen', { role: 'status' });
const say = (text: string): void => fill(live, text);
const head = h('header.head');
const search = h('input', {
  type: 'search', id: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, states and details',
  spellcheck: 'false', input: () => go({ search: search.value }, false),
});
const bar = h('div.row');
const below = h('p.quiet.below');
const aside = h('aside', { 'aria-label': 'Story' });

function draw(before?: State): void {
  const isOther = before?.view !== state.view;
  const isMoved = isOther || state.at !== before.at;
  const active = isOther ? line : activeLine();
  const { verdict, rows } = forest.view;
  const all = rows.fate.length === 1 ? '1 line' : `${grouped(rows.fate.length)} lines`;
  const found = forest.isFiltered ? `${grouped(forest.found)} of ${all}` : all;
  fill(head, ...headOf());
  if (search.value !== state.search) search.value = state.search;
  fill(bar, ...barOf(), h('p.quiet.found', found));
  showLines(active);
  const place = lines.indexOf(line);
  if (place >= 0 && (isMoved || state.show !== before.show)) activate(place);
  const left = isPaper ? Math.max(0, lines.length - MOST_PRINTED) : 0;
  fill(below, lines.length > 0 ? left > 0 && `${grouped(left)} more lines are not printed.`
    : forest.isFiltered ? 'Nothing matches: clear the search or the filters.' : 'No objects.');
  if (isMoved || state === before) {
    fill(aside, ...story(close));
    aside.scrollTop = 0;
  }
  if (before && isOther) say(verdict ? `${verdict.word} ${verdict.sentence}` : '');
  else if (before && isMoved) say(state.at && `Story of ${aside.querySelector('h2')!.textContent}.`);
  else if (before && (state.search !== before.search || state.state !== before.state)) say(found);
}

/** What was asked, what comes of it, and the policies to compare. */
function headOf(): Part[] {
  const { name, verdict } = forest.view;
  return [
    // The verdict is the heading, where there is one.
    h(`${verdict ? 'p' : 'h1'}.title`, h('bdi', data.title)),
    h('p.quiet', h('bdi', data.source)),
    forest !== forests[data.shown] &&
      h('p.quiet', `Shown: --propagation=${name}, which is not what the command asked for.`),
    verdict !== undefined && h(`div.verdict.${colour(verdict.fate)}`, symbol(verdict.fate),
      h('h1', h('strong', verdict.word), ` ${verdict.sentence}`)),
    forests.length > 1 && h('fieldset.row', h('legend', 'Propagation policy'), ...forests.map((other) => {
      const { name } = other.view;
      return choice('policy', name, other === forest, () => go({ view: name }), h('span', name), ...numbersOf(other));
    })),
  ];
}

/** How many objects lose data under a policy, and how many end in which state. */
function numbersOf({ lost, numbers }: Forest): Part[] {
  const number = (of: number, word: string, mark: Part): Part => of > 0 &&
    h('span', { title: word }, mark, grouped(of), h('span.unseen', ` ${word}`));
  const states = data.states.slice(0, fateOf('untouched'));
  return [
    number(lost, 'lose data', h('span.loses', '! ')),
    ...states.map(({ word }, fate) => number(numbers[fate]!, word, symbol(fate))),
  ];
}

/** The states that occur, which are the legend, too; and how to show what. */
function barOf(): Part[] {
  const chosen = state.state.split(' ').filter((name) => name);
  const states = data.states.map(({ name, word, meaning }, fate) => {
    const [number, isChosen] = [forest.numbers[fate]!, chosen.includes(name)];
    const others = chosen.filter((other) => other !== name);
    const change = (): void => go({ state: (isChosen ? others : [...chosen, name]).join(' ') });
    const what = `${grouped(number)} ${word.toLowerCase()}${isFinding(fate) && number !== 1 ? 's' : ''}`;
    return (number > 0 || isChosen) &&
      choice('state', name, isChosen, change, { title: meaning }, symbol(fate), what);
  });
  return [
    h('fieldset.row', h('legend.unseen', 'Filter by state'), ...states),
    h('fieldset.row', h('legend.unseen', 'What to show'),
      choice('show', 'tree', !isTable(), () => go({ show: '' }), 'Tree'),
      choice('show', 'table', isTable(), () => go({ show: 'table' }), 'Table')),
    !isTable() && h('button', { id: 'expand', click: () => setAllOpen(true) }, 'Expand all'),
    !isTable() && h('button', { id: 'collapse', click: () => setAllOpen(false) }, 'Collapse all'),
  ];
}

/** One of the states, of which several are chosen, or one of others, of which one is. */
function choice(name: string, value: string, isChosen: boolean, change: () => void, ...parts: Part[]): HTMLElement {
  const type = name === 'state' ? 'checkbox' : 'radio';
  return h('label', h('input', { type, name, id: `${name}-${value}`, checked: isChosen, change }), ...parts);
}

function setAllOpen(isOpen: boolean): void {
  forest.setAllOpen(isOpen);
  go({});
  say(`${isOpen ? 'Expand' : 'Collapse'} all: done.`);
}

/** Back to the list, where the reader came from. */
function close(): void {
  go({ at: '' });
  list.focus();
}

const everywhere: Keys = {
  '/': () => {
    search.focus();
    search.select();
  },
  n: () => {
    const worst = nextWorst();
    if (worst === undefined) say('Nothing is stuck or loses data.');
    else select(worst);
  },
  t: () => go({ show: isTable() ? '' : 'table' }),
  p: () => go({ view: forests[(forests.indexOf(forest) + 1) % forests.length]!.view.name }),
  Escape: () => state.at !== '' && close(),
};
const inSearch: Keys = {
  Escape: () => go({ search: '' }, false),
  Enter: () => {
    list.focus();
    activate(lines.findIndex((line) => forest.matches[line]));
  },
};
const inList: Keys = { Enter: (line) => select(line), ' ': (line) => select(line) };
const inTree: Keys = {
  '*': () => setAllOpen(true),
  ArrowRight: (line) => {
    if (forest.isOpen(line)) move('ArrowDown');
    else if (forest.isClosed(line)) toggle(line);
  },
  ArrowLeft: (line) => {
    const parent = lines.indexOf(forest.parent[forest.row(line)]!);
    if (forest.isOpen(line)) toggle(line);
    else if (parent >= 0) activate(parent);
  },
};

function press(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isInList = target === list && lines.length > 0;
  const keys = target === search ? inSearch : { ...everywhere, ...isInList && { ...inList, ...!isTable() && inTree } };
  if (keys[key]) keys[key](activeLine());
  else if (!isInList || !move(key)) return;
  event.preventDefault();
}

list.addEventListener('click', ({ target }) => {
  const row = (target as Element).closest('.lines .line');
  if (!row) return;
  activate(Number(row.id.slice('line-'.length)));
  if ((target as Element).matches('.twisty:not(:empty)')) toggle(activeLine());
  else select(activeLine());
});

/** The picture as text. A large one is packed. */
async function textIn(picture: Element): Promise<string> {
  const text = picture.textContent ?? '';
  if (text.startsWith('{')) return text;
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture in the place of the text. */
async function run(page: Element, picture: Element, text: Element): Promise<void> {
  try {
    const read = JSON.parse(await textIn(picture)) as Data;
    // A browser may have saved the page with what it showed.
    fill(page, head, h('main', h('div.row.bar', { role: 'search' }, search, bar),
      h('div.split', h('div.panel', list, below), aside)), live);
    start(read, draw);
    addEventListener('keydown', press);
    // Findings have no sections: the worst one says at once what to do, where there is room.
    const worst = nextWorst();
    const isFree = object < 0 && line < 0 && forest.view.sections.length === 0 && innerWidth > 760;
    if (worst !== undefined && isFree) select(worst, false);
    for (const name of ['beforeprint', 'afterprint']) addEventListener(name, () => print(name === 'beforeprint'));
  } catch (error) {
    fill(page, h('p.message', `This page can't show its picture: ${(error as Error).message}. The text below says ` +
      'the same.'), text);
    throw error;
  }
}

const [page, picture, text] = ['page', 'picture', 'text'].map((id) => document.getElementById(id)!);
void run(page!, picture!, text!);
