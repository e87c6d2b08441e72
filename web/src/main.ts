// The page: reads the picture that stands in it, shows it, and does what the keyboard asks for.
import {
  active, choose, chosen, forest, forests, go, isPaper, isTable, lines, MOST_PRINTED,
  nextWorst, openAll, print, start, toggle,
} from './app.ts';
import { grouped, type Data } from './data.ts';
import { fill, find } from './dom.ts';
import { search, showHead } from './head.ts';
import { list, move, showLines } from './list.ts';
import { story } from './story.ts';

type Keys = Record<string, () => unknown>;

const [found, aside] = [find('#found'), find('aside')];
const page = find('#page');
// A browser may have saved the page with what it showed, and without the text.
const text = document.querySelector('#text');

function draw(isSame: boolean): void {
  const { size } = forest;
  if (!isSame) {
    showHead();
    const left = isPaper ? Math.max(0, lines.length - MOST_PRINTED) : 0;
    fill(found, left > 0 ? `${grouped(left)} more lines are not printed.`
      : size === 0 ? 'No objects.'
      : lines.length === 0 ? 'Nothing matches: Esc clears the search.'
      : `${grouped(forest.found)} of ${grouped(size)} ${size === 1 ? 'line' : 'lines'}`);
  }
  showLines(isSame);
  fill(aside, ...story());
  aside.scrollTop = 0;
}

const everywhere: Keys = {
  '/': () => search.select(),
  n: () => {
    const worst = nextWorst();
    if (worst === undefined) fill(found, 'Nothing is stuck or loses data.');
    else choose(worst);
  },
  t: () => go({ v: isTable() ? 'tree' : 'table' }),
  p: () => go({ p: forests[(forests.indexOf(forest) + 1) % forests.length]!.view.name }),
  Escape: () => {
    go(chosen('o') ? { o: '' } : { q: '' });
    list.focus();
  },
};
const inSearch: Keys = {
  Escape: () => go({ q: '' }),
  Enter: () => {
    list.focus();
    const hit = lines.find((line) => forest.shown[line] === 2);
    if (hit !== undefined) choose(hit);
  },
};
const inTree: Keys = {
  Enter: () => forest.isOpen(active) !== undefined && toggle(active),
  '*': openAll,
  ArrowRight: () => (forest.isOpen(active) === false ? toggle(active) : move('ArrowDown')),
  ArrowLeft: () => {
    const parent = forest.parent[forest.row(active)]!;
    if (active >= 0 && forest.isOpen(active)) toggle(active);
    else if (parent >= 0) choose(parent);
  },
};

function press(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isInList = target === list && lines.length > 0;
  const keys = target === search ? inSearch
    : { ...everywhere, ...isInList && !isTable() && inTree };
  if (Object.hasOwn(keys, key)) keys[key]!();
  else if (!isInList || !move(key)) return;
  event.preventDefault();
}

/** The picture as text. A large one is packed. */
async function picture(): Promise<string> {
  const text = find('#picture').textContent;
  if (text.startsWith('{')) return text;
  const packed = new Blob([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture in the place of the text. */
async function run(): Promise<void> {
  try {
    const read = JSON.parse(await picture()) as Data;
    page.hidden = false;
    text?.remove();
    start(read, draw);
    addEventListener('keydown', press);
    // There is room for the story of what holds things up.
    const first = forest.culprits[0] ?? nextWorst(-1);
    if (!chosen('o') && first !== undefined && innerWidth > 760) choose(first);
    for (const name of ['beforeprint', 'afterprint']) {
      addEventListener(name, () => print(name === 'beforeprint'));
    }
  } catch (error) {
    const why = `This page can't show its picture: ${(error as Error).message}. `;
    fill(find('#message'), { hidden: false }, why, 'The text below says the same.');
    page.hidden = true;
    page.before(text ?? '');
    throw error;
  }
}

void run();
