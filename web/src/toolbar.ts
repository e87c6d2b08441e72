// Search, filters, and what is shown: the tree or the table.
import type { App } from './app.ts';
import { button, count, fill, grouped, h, symbol } from './dom.ts';
import { numbersOf, PLURALS } from './forest.ts';
import { LOOKS, type KubeObject } from './picture.ts';
import { isFiltered, words } from './state.ts';

/** A search begins when nothing was typed for so many milliseconds. */
const TYPING = 80;

export function toolbar(app: App): { search: HTMLInputElement; bars: HTMLElement[] } {
  const search = h('input', {
    type: 'search', id: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, states and details',
    autocomplete: 'off', spellcheck: 'false',
  });
  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => app.go({ search: search.value }, false), TYPING);
  });
  const clear = button('Clear', { class: 'clear' }, () => {
    app.go({ search: '', state: '', kind: '', namespace: '' });
    search.focus();
  });
  const found = h('p', { class: 'found', role: 'status' });
  app.parts.push((before) => {
    const { state, forest, view } = app;
    if (before?.search !== state.search && search.value.trim() !== state.search.trim()) search.value = state.search;
    clear.hidden = !isFiltered(state);
    const all = count(view.rows.length, 'line');
    const text = forest.isFiltered ? `${grouped(forest.matches)} of ${all}` : all;
    // A screen reader tells it only if it has changed.
    if (found.textContent !== text) fill(found, text);
  });
  const bars = [
    h('div', { class: 'toolbar', role: 'search', 'aria-label': 'Search and filter' }, search, chips(app),
      choice(app, 'kind', 'All kinds', (object) => object.kind),
      choice(app, 'namespace', 'All namespaces', (object) => object.namespace ?? '-'), clear),
    h('div', { class: 'tabs-line' }, tabs(app), folding(app), found),
  ];
  return { search, bars };
}

/** A chip for each state that occurs: it is the legend, too. */
function chips(app: App): HTMLElement {
  const all = [...LOOKS.values()].map(({ name, word, meaning }) => ({
    name,
    word: word.toLowerCase(),
    chip: button(null, { class: `chip fate-${name}`, 'data-fate': name, title: meaning }, () => {
      const chosen = words(app.state.state);
      const others = chosen.filter((other) => other !== name);
      app.go({ state: (others.length < chosen.length ? others : [...chosen, name]).join(' ') });
    }),
  }));
  const group = h('div', { class: 'fates', role: 'group', 'aria-label': 'Filter by state' },
    ...all.map(({ chip }) => chip));
  app.parts.push((before) => {
    const chosen = words(app.state.state);
    for (const { name, chip } of all) chip.setAttribute('aria-pressed', String(chosen.includes(name)));
    if (before?.view === app.state.view) return;
    const numbers = numbersOf(app.view.rows);
    for (const { name, word, chip } of all) {
      const number = numbers.get(name) ?? 0;
      chip.hidden = number === 0 && !chosen.includes(name);
      fill(chip, symbol(name), count(number, word, PLURALS[name] ?? word));
    }
    group.hidden = numbers.size < 2 && chosen.length === 0;
  });
  return group;
}

/** A choice among the values that objects have, with their numbers. */
function choice(app: App, name: 'kind' | 'namespace', any: string, value: (object: KubeObject) => string): HTMLElement {
  const numbers = new Map<string, number>();
  for (const object of app.picture.objects) numbers.set(value(object), (numbers.get(value(object)) ?? 0) + 1);
  const options = [...numbers.keys()].sort().map((key) => {
    const option = h('option', {}, `${key === '-' ? `without ${name}` : key} (${grouped(numbers.get(key)!)})`);
    // As it is: the attribute would be escaped.
    option.value = key;
    return option;
  });
  const select = h('select', { 'aria-label': `Filter by ${name}`, hidden: options.length < 2 },
    h('option', { value: '' }, any), ...options);
  select.addEventListener('change', () => app.go({ [name]: select.value }));
  app.parts.push(() => (select.value = app.state[name]));
  return select;
}

function tabs(app: App): HTMLElement {
  return h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'What to show' }, ...['Tree', 'Table'].map((name) => {
    const tab = name.toLowerCase();
    const show = tab === 'table' ? tab : '';
    const made = button(name, { role: 'tab', id: `tab-${tab}`, 'aria-controls': 'panel' }, () => app.go({ show }));
    app.parts.push(() => made.setAttribute('aria-selected', String(app.state.show === show)));
    return made;
  }));
}

function folding(app: App): HTMLElement {
  const all = (name: string, isOpen: boolean): HTMLElement => button(`${name} all`, {}, () => {
    app.forest.setAllOpen(isOpen);
    app.go({});
    app.say(`${name} all: done.`);
  });
  const made = h('div', { class: 'folding' }, all('Expand', true), all('Collapse', false));
  app.parts.push(() => (made.hidden = app.isTable));
  return made;
}
