// The page: reads the picture that stands in it, shows it, and does what mouse and keyboard ask for.
import { app, forestAt, go, isFiltered, isTable, nextWorst, select, start, type State } from './app.ts';
import { count, data, fateOf, grouped, isFinding, textOf, use, words, type Column, type Data } from './data.ts';
import { bdi, button, colour, fill, h, symbol } from './dom.ts';
import { changes, type Forest } from './forest.ts';
import { activate, activeLine, list, move, showLines } from './list.ts';
import { sheet, story } from './story.ts';

/** A search begins when nothing was typed for so many milliseconds. */
const TYPING = 80;

function show(page: HTMLElement): void {
  const { views } = data;
  const live = h('p', { class: 'unseen', role: 'status' });
  const say = (text: string): void => fill(live, text);

  // The head: what was asked, what comes of it, and the policies to compare.
  const otherwise = h('p', { class: 'quiet' });
  const verdict = h('div', { role: 'status', 'aria-label': 'Verdict' });
  const changed = h('p', { class: 'changes' });
  const policies = views.map(({ name }, view) => {
    const input = h('input', { type: 'radio', name: 'policy', value: name, change: () => go({ view: name }) });
    return { input, label: h('label', {}, input, h('span', {}, name), ...numbers(forestAt(view))) };
  });
  const head = h('header', { class: 'head' },
    h('div', { class: 'row asked' },
      // The verdict is the heading, where there is one.
      h(views.some((view) => view.verdict) ? 'p' : 'h1', { class: 'title' }, bdi(data.title)),
      h('p', { class: 'quiet' }, bdi(data.source))),
    otherwise, verdict,
    views.length > 1 && h('div', { class: 'row' },
      h('fieldset', { class: 'row' }, h('legend', {}, 'Propagation policy'),
        ...policies.map(({ label }) => label)),
      changed));

  // Search and filters.
  let timer = 0;
  const search = h('input', {
    type: 'search', id: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, states and details',
    autocomplete: 'off', spellcheck: 'false',
    input: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => go({ search: search.value }, false), TYPING);
    },
  });
  const clear = button('Clear', () => {
    go({ search: '', state: '', kind: '', namespace: '' });
    search.focus();
  }, { class: 'clear' });
  const chosen = (): string[] => words(app.state.state);
  // A chip for each state that occurs: it is the legend, too.
  const chips = data.states.map(({ name, meaning }, fate) => button('', () => {
    const others = chosen().filter((other) => other !== name);
    go({ state: (others.length < chosen().length ? others : [...chosen(), name]).join(' ') });
  }, { class: `chip ${colour(fate)}`, 'data-fate': name, title: meaning }));
  const fates = h('div', { class: 'row fates', role: 'group', 'aria-label': 'Filter by state' }, ...chips);
  const choices = { kind: choice('kind', 'All kinds'), namespace: choice('namespace', 'All namespaces') };

  // The tree or the table, and a story.
  const tabs = ['', 'table'].map((show) => button(show ? 'Table' : 'Tree', () => go({ show }), {
    role: 'tab', id: `tab-${show || 'tree'}`, 'aria-controls': 'panel',
  }));
  const setAllOpen = (isOpen: boolean): void => {
    app.forest.setAllOpen(isOpen);
    go({});
    say(`${isOpen ? 'Expand' : 'Collapse'} all: done.`);
  };
  const folding = h('div', { class: 'row folding' },
    button('Expand all', () => setAllOpen(true)), button('Collapse all', () => setAllOpen(false)));
  const found = h('p', { class: 'quiet found', role: 'status' });
  const nothing = h('p', { class: 'quiet nothing' });
  const panel = h('div', { id: 'panel', role: 'tabpanel' }, list, nothing);
  const aside = h('aside', { class: 'story', 'aria-labelledby': 'story-title' });
  page.append(
    head,
    h('main', {},
      h('div', { class: 'row bar', role: 'search', 'aria-label': 'Search and filter' },
        search, fates, choices.kind, choices.namespace, clear),
      h('div', { class: 'row bar' },
        h('div', { class: 'row tabs', role: 'tablist', 'aria-label': 'What to show' }, ...tabs), folding, found),
      h('div', { class: 'split' }, panel, aside)),
    live);

  /** The head and the chips of another policy. */
  function drawView(): void {
    const { view, forest, compared } = app;
    const { name, verdict: said } = views[view]!;
    otherwise.hidden = view === data.shown;
    fill(otherwise, `Shown: --propagation=${name}, which is not what the command asked for.`);
    verdict.hidden = !said;
    verdict.className = `verdict ${said ? colour(said.fate) : ''}`;
    // The live region tells the sentence when the policy changes.
    if (said) fill(verdict, symbol(said.fate), h('h1', {}, h('strong', {}, said.word), ` ${said.sentence}`));
    policies.forEach(({ input }, at) => (input.checked = at === view));
    if (compared >= 0) {
      const before = views[compared]!.name;
      const others = changes(forestAt(compared), forest);
      const outside = others.filter((object) => forest.lineOf[object]! < 0).length;
      const where = outside === 0 ? ': marked “was”.'
        : `; ${grouped(outside)} of them ${outside === 1 ? 'is' : 'are'} outside of this plan.`;
      fill(changed, others.length === 0 ? `All objects end as with ${before}.`
        : `${count(others.length, 'object ends', 'objects end')} differently than with ${before}${where}`);
    }
    chips.forEach((chip, fate) => {
      const word = data.states[fate]!.word.toLowerCase();
      fill(chip, symbol(fate), count(forest.numbers[fate]!, word, isFinding(fate) ? `${word}s` : word));
    });
  }

  function draw(before: State | undefined): void {
    const { state, forest, object, line, lines } = app;
    const isInTable = isTable();
    const isSelected = object >= 0 || line >= 0;
    const active = before && before.view === state.view ? activeLine() : -1;
    if (before?.view !== state.view) drawView();
    if (before?.search !== state.search && search.value.trim() !== state.search.trim()) search.value = state.search;
    choices.kind.value = state.kind;
    choices.namespace.value = state.namespace;
    clear.hidden = !isFiltered(state);
    chips.forEach((chip, fate) => {
      const isPressed = chosen().includes(data.states[fate]!.name);
      chip.setAttribute('aria-pressed', String(isPressed));
      chip.hidden = forest.numbers[fate] === 0 && !isPressed;
    });
    fates.hidden = forest.numbers.filter((number) => number > 0).length < 2 && chosen().length === 0;
    const all = count(forest.view.rows.fate.length, 'line');
    const text = forest.isFiltered ? `${grouped(forest.found)} of ${all}` : all;
    // A screen reader tells it only if it has changed.
    if (found.textContent !== text) fill(found, text);
    tabs.forEach((tab, at) => tab.setAttribute('aria-selected', String(isInTable === (at === 1))));
    folding.hidden = isInTable;
    list.id = isInTable ? 'table' : 'tree';
    list.setAttribute('role', isInTable ? 'grid' : 'treegrid');
    list.setAttribute('aria-label', isInTable ? 'All objects' : 'Owners, and their dependents below them');
    panel.setAttribute('aria-labelledby', `tab-${list.id}`);
    panel.classList.toggle('wordless', !forest.hasWords);
    showLines(active);
    const place = lines.indexOf(line);
    if (place >= 0 && (state.at !== before?.at || state.show !== before.show)) activate(place);
    nothing.hidden = lines.length > 0;
    fill(nothing, forest.isFiltered ? 'Nothing matches: clear the search or the filters.' : 'No objects.');
    if (before && state.at === before.at && state.view === before.view) return;
    page.classList.toggle('has-story', isSelected);
    fill(aside, ...story(close));
    aside.scrollTop = 0;
    if (isSelected) say(`Story of ${aside.querySelector('h2')?.textContent ?? ''}.`);
  }

  start(draw);
  // Findings have no sections: the worst one says at once what to do, where there is room.
  const worst = nextWorst();
  const isFree = app.object < 0 && app.line < 0 && views[app.view]!.sections.length === 0 && innerWidth > 760;
  if (worst !== undefined && isFree) select(worst, false);

  /** Back to the list, where the reader came from. */
  function close(): void {
    go({ at: '' });
    list.focus();
  }

  /** Opens or closes a line. */
  function toggle(line: number): void {
    app.forest.setOpen(line, !app.forest.isOpen(line));
    go({});
  }

  /** A click, Enter or space on a line. */
  function choose(line: number, target: Element): void {
    if (app.forest.folds[line] || (app.forest.isAbove[line] && target.matches('.twisty'))) toggle(line);
    else select(line);
  }

  list.addEventListener('click', ({ target }) => {
    const place = (target as Element).closest<HTMLElement>('[data-place]')?.dataset['place'];
    if (place === undefined) return;
    activate(Number(place));
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
    p: () => go({ view: views[(app.view + 1) % views.length]!.name }),
    Escape: () => app.state.at !== '' && close(),
  };
  const inSearch: Keys = {
    Escape: () => {
      search.value = '';
      go({ search: '' }, false);
    },
    Enter: () => {
      go({ search: search.value }, false);
      list.focus();
      activate(app.lines.findIndex((line) => app.forest.matches[line]));
    },
  };
  const inList: Keys = {
    Enter: (line) => choose(line, list),
    ' ': (line) => choose(line, list),
  };
  const inTree: Keys = {
    '*': () => setAllOpen(true),
    ArrowRight: (line) => {
      if (app.forest.isOpen(line)) move('ArrowDown');
      else if (app.forest.isAbove[line]) toggle(line);
    },
    ArrowLeft: (line) => {
      const parent = app.lines.indexOf(app.forest.parent[line]!);
      if (app.forest.isOpen(line)) toggle(line);
      else if (parent >= 0) activate(parent);
    },
  };
  addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || (target as Element).matches('select')) return;
    const line = target === list ? activeLine() : -1;
    const keys = target === search ? inSearch : { ...everywhere, ...line >= 0 && { ...inList, ...!isTable() && inTree } };
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
    'span', { class: kind, title: word }, shown, grouped(of), h('span', { class: 'unseen' }, ` ${word}`));
  const lost = rows.flags.filter((flags) => flags & 2).length;
  return [
    ...lost === 0 ? [] : [number(lost, '! ', 'lose data', 'loses')],
    ...numbers.flatMap((of, fate) => (
      of === 0 || fate === fateOf('untouched') ? [] : [number(of, symbol(fate), data.states[fate]!.word)])),
  ];
}

/** A choice among the values that objects have, with their numbers. */
function choice(name: 'kind' | 'namespace', any: string): HTMLSelectElement {
  const column: Column = data.objects[name];
  const numbers = new Map<string, number>();
  column.forEach((_, object) => {
    const value = textOf(column, object) || '-';
    numbers.set(value, (numbers.get(value) ?? 0) + 1);
  });
  const options = [...numbers.keys()].sort().map((value) => {
    const option = h('option', {}, `${value === '-' ? `without ${name}` : value} (${grouped(numbers.get(value)!)})`);
    // As it is: the attribute would be escaped.
    option.value = value;
    return option;
  });
  const select: HTMLSelectElement = h('select', {
    'aria-label': `Filter by ${name}`, hidden: options.length < 2, change: (): void => go({ [name]: select.value }),
  }, h('option', { value: '' }, any), ...options);
  return select;
}

/** The picture as text. A large one is packed. */
async function textIn(picture: Element): Promise<string> {
  const text = picture.textContent ?? '';
  if (picture.getAttribute('type') !== 'application/gzip') return text;
  if (!('DecompressionStream' in globalThis)) throw new Error('this browser is too old to unpack it');
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture. The text in its place goes. */
async function run(page: HTMLElement, picture: Element): Promise<void> {
  try {
    use(JSON.parse(await textIn(picture)) as Data);
    // A browser may have saved the page with what it showed.
    page.replaceChildren();
    show(page);
    document.getElementById('text')?.remove();
  } catch (error) {
    fill(page, h('p', { class: 'message' }, `This page can't show its picture: ${(error as Error).message}. The text ` +
      'below says the same.'));
    throw error;
  }
}

void run(document.getElementById('page')!, document.getElementById('picture')!);
