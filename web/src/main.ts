// The page: reads the picture that stands in it, shows it, and does what mouse and keyboard ask for.
import {
  compared, forest, forests, go, isTable, line, lines, load, nextWorst, object, select, start, state, type State,
} from './app.ts';
import { count, data, fateOf, grouped, isFinding, textOf, words, type Data } from './data.ts';
import { bdi, colour, fill, h, symbol } from './dom.ts';
import { changes, UNFILTERED, type Forest } from './forest.ts';
import { activate, activeLine, list, move, showLines } from './list.ts';
import { nothing, sheet, story } from './story.ts';

/** A search begins when nothing was typed for so many milliseconds. */
const TYPING = 80;

function show(page: HTMLElement): void {
  const live = h('p.unseen', { role: 'status' });
  const say = (text: string): void => fill(live, text);

  // The head: what was asked, what comes of it, and the policies to compare.
  const otherwise = h('p.quiet');
  const verdict = h('div', { role: 'status', 'aria-label': 'Verdict' });
  const changed = h('p.changes');
  const policies = forests.map((forest) => {
    const { name } = forest.view;
    return h('label', h('input', { type: 'radio', name: 'policy', value: name, change: () => go({ view: name }) }),
      h('span', name), ...numbers(forest));
  });
  const head = h('header.head',
    h('div.row.asked',
      // The verdict is the heading, where there is one.
      h(`${forests.some(({ view }) => view.verdict) ? 'p' : 'h1'}.title`, bdi(data.title)),
      h('p.quiet', bdi(data.source))),
    otherwise, verdict,
    policies.length > 1 && h('div.row',
      h('fieldset.row', h('legend', 'Propagation policy'), ...policies), changed));

  // Search and filters.
  let timer = 0;
  const search = h('input', {
    type: 'search', id: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, states and details',
    spellcheck: 'false',
    input: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => go({ search: search.value }, false), TYPING);
    },
  });
  const clear = h('button.clear', {
    click: () => {
      go(UNFILTERED);
      search.focus();
    },
  }, 'Clear');
  const chosen = (): string[] => words(state.state);
  // A chip for each state that occurs: it is the legend, too.
  const chips = data.states.map(({ name, meaning }, fate) => h(`button.chip.${colour(fate)}`, {
    'data-fate': name, title: meaning,
    click: () => {
      const now = new Set(chosen());
      if (!now.delete(name)) now.add(name);
      go({ state: [...now].join(' ') });
    },
  }));
  const choices = { kind: choice('kind'), namespace: choice('namespace') };

  // The tree or the table, and a story.
  const tabs = ['', 'table'].map((show) => h('button', {
    role: 'tab', id: `tab-${show || 'tree'}`, 'aria-controls': 'panel', click: () => go({ show }),
  }, show ? 'Table' : 'Tree'));
  const setAllOpen = (isOpen: boolean): void => {
    forest.setAllOpen(isOpen);
    go({});
    say(`${isOpen ? 'Expand' : 'Collapse'} all: done.`);
  };
  const folding = h('div.row.folding', ...[true, false].map((isOpen) => h('button', {
    click: () => setAllOpen(isOpen),
  }, isOpen ? 'Expand all' : 'Collapse all')));
  const found = h('p.quiet.found', { role: 'status' });
  const none = h('p.quiet.nothing');
  const panel = h('div', { id: 'panel', role: 'tabpanel' }, list, none);
  const aside = h('aside', { 'aria-label': 'Story' });
  // A browser may have saved the page with what it showed.
  fill(
    page, head,
    h('main',
      h('div.row.bar', { role: 'search', 'aria-label': 'Search and filter' },
        search, h('div.row.fates', { role: 'group', 'aria-label': 'Filter by state' }, ...chips),
        choices.kind, choices.namespace, clear),
      h('div.row.bar',
        h('div.row', { role: 'tablist', 'aria-label': 'What to show' }, ...tabs), folding, found),
      h('div.split', panel, aside)),
    live);

  /** The head of another policy. */
  function drawView(): void {
    const { name, verdict: said } = forest.view;
    otherwise.hidden = forest === forests[data.shown];
    fill(otherwise, `Shown: --propagation=${name}, which is not what the command asked for.`);
    verdict.hidden = !said;
    // The live region tells the sentence when the policy changes.
    if (said) {
      fill(verdict, { class: `verdict ${colour(said.fate)}` }, symbol(said.fate),
        h('h1', h('strong', said.word), ` ${said.sentence}`));
    }
    policies.forEach(({ control }, at) => ((control as HTMLInputElement).checked = forests[at] === forest));
    if (compared) {
      const before = compared.view.name;
      const others = changes(compared, forest);
      const outside = others.filter((object) => forest.lineOf[object]! < 0).length;
      const where = outside === 0 ? ': marked “was”.'
        : `; ${grouped(outside)} of them ${outside === 1 ? 'is' : 'are'} outside of this plan.`;
      fill(changed, others.length === 0 ? `All objects end as with ${before}.`
        : `${count(others.length, 'object ends', 'objects end')} differently than with ${before}${where}`);
    }
  }

  function draw(before: State | undefined): void {
    const isInTable = isTable();
    const isSelected = object >= 0 || line >= 0;
    const isOther = before?.view !== state.view;
    const active = isOther ? -1 : activeLine();
    if (isOther) drawView();
    if (before?.search !== state.search) search.value = state.search;
    choices.kind.value = state.kind;
    choices.namespace.value = state.namespace;
    clear.hidden = !forest.isFiltered;
    chips.forEach((chip, fate) => {
      const word = data.states[fate]!.word.toLowerCase();
      const number = forest.numbers[fate]!;
      const isPressed = chosen().includes(data.states[fate]!.name);
      fill(chip, { 'aria-pressed': String(isPressed) }, symbol(fate),
        count(number, word, isFinding(fate) ? `${word}s` : word));
      chip.hidden = number === 0 && !isPressed;
    });
    const all = count(forest.view.rows.fate.length, 'line');
    const text = forest.isFiltered ? `${grouped(forest.found)} of ${all}` : all;
    // A screen reader tells it only if it has changed.
    if (found.textContent !== text) fill(found, text);
    tabs.forEach((tab, at) => (tab.ariaSelected = String(isInTable === at > 0)));
    folding.hidden = isInTable;
    list.id = isInTable ? 'table' : 'tree';
    list.role = isInTable ? 'grid' : 'treegrid';
    list.ariaLabel = isInTable ? 'All objects' : 'Owners, and their dependents below them';
    panel.setAttribute('aria-labelledby', `tab-${list.id}`);
    showLines(active);
    const place = lines.indexOf(line);
    if (place >= 0 && (state.at !== before?.at || state.show !== before.show)) activate(place);
    none.hidden = lines.length > 0;
    fill(none, nothing());
    if (state.at === before?.at && !isOther) return;
    fill(aside, ...story(close));
    aside.scrollTop = 0;
    if (isSelected) say(`Story of ${aside.querySelector('h2')!.textContent}.`);
  }

  start(draw);
  // Findings have no sections: the worst one says at once what to do, where there is room.
  const worst = nextWorst();
  const isFree = object < 0 && line < 0 && forest.view.sections.length === 0 && innerWidth > 760;
  if (worst !== undefined && isFree) select(worst, false);

  /** Back to the list, where the reader came from. */
  function close(): void {
    go({ at: '' });
    list.focus();
  }

  /** Opens or closes a line. */
  function toggle(line: number): void {
    forest.setOpen(line, !forest.isOpen(line));
    go({});
  }

  /** A click, Enter or space on a line. */
  function choose(line: number, target: Element = list): void {
    if (forest.folds[line] || (forest.isAbove[line] && target.matches('.twisty'))) toggle(line);
    else select(line);
  }

  list.addEventListener('click', ({ target }) => {
    const row = (target as Element).closest('.lines .line');
    if (!row) return;
    activate(Number(row.id.slice('line-'.length)));
    choose(activeLine(), target as Element);
  });

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
    Escape: () => {
      search.value = '';
      go({ search: '' }, false);
    },
    Enter: () => {
      go({ search: search.value }, false);
      list.focus();
      activate(lines.findIndex((line) => forest.matches[line]));
    },
  };
  const inList: Keys = { Enter: choose, ' ': choose };
  const inTree: Keys = {
    '*': () => setAllOpen(true),
    ArrowRight: (line) => {
      if (forest.isOpen(line)) move('ArrowDown');
      else if (forest.isAbove[line]) toggle(line);
    },
    ArrowLeft: (line) => {
      const parent = lines.indexOf(forest.parent[line]!);
      if (forest.isOpen(line)) toggle(line);
      else if (parent >= 0) activate(parent);
    },
  };
  addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || (target as Element).matches('select')) return;
    const line = target === list ? activeLine() : -1;
    const here = line >= 0 && { ...inList, ...!isTable() && inTree };
    const keys = target === search ? inSearch : { ...everywhere, ...here };
    if (keys[key]) keys[key](line);
    else if (line < 0 || !move(key)) return;
    event.preventDefault();
  });
  addEventListener('beforeprint', () => page.append(sheet()));
  addEventListener('afterprint', () => document.getElementById('sheet')?.remove());
}

/** What keys do, also to the active line. */
type Keys = Record<string, (line: number) => unknown>;

/** How many objects lose data under a policy, and how many end in which state. */
function numbers({ view: { rows }, numbers }: Forest): HTMLElement[] {
  const number = (of: number, shown: HTMLElement | string, word: string, kind = ''): HTMLElement => h(
    `span.${kind}`, { title: word }, shown, grouped(of), h('span.unseen', ` ${word}`));
  const lost = rows.flags.filter((flags) => flags & 2).length;
  return [
    ...lost === 0 ? [] : [number(lost, '! ', 'lose data', 'loses')],
    ...numbers.flatMap((of, fate) => (
      of === 0 || fate === fateOf('untouched') ? [] : [number(of, symbol(fate), data.states[fate]!.word)])),
  ];
}

/** A choice among the values that objects have, with their numbers. */
function choice(name: 'kind' | 'namespace'): HTMLSelectElement {
  const numbers = new Map<string, number>();
  data.objects[name].forEach((_, object, column) => {
    const value = textOf(column, object) || '-';
    numbers.set(value, (numbers.get(value) ?? 0) + 1);
  });
  const options = [...numbers].sort().map(([value, number]) => {
    const option = h('option', `${value === '-' ? `without ${name}` : value} (${grouped(number)})`);
    // As it is: the attribute would be escaped.
    option.value = value;
    return option;
  });
  const select: HTMLSelectElement = h('select', {
    'aria-label': `Filter by ${name}`, hidden: options.length < 2, change: (): void => go({ [name]: select.value }),
  }, h('option', { value: '' }, `All ${name}s`), ...options);
  return select;
}

/** The picture as text. A large one is packed. */
async function textIn(picture: Element): Promise<string> {
  const text = picture.textContent ?? '';
  if (text.startsWith('{')) return text;
  if (!('DecompressionStream' in globalThis)) throw new Error('this browser is too old to unpack it');
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture in the place of the text. */
async function run(page: HTMLElement, picture: Element, text?: Element | null): Promise<void> {
  try {
    load(JSON.parse(await textIn(picture)) as Data);
    show(page);
  } catch (error) {
    fill(page, h('p.message', `This page can't show its picture: ${(error as Error).message}. The text ` +
      'below says the same.'), text ?? '');
    throw error;
  }
}

const [page, picture, text] = ['page', 'picture', 'text'].map((id) => document.getElementById(id));
void run(page!, picture!, text);
