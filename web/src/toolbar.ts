// Search, filters, and what is shown: the tree or the table.
import type { App } from './app.ts';
import { button, fill, h } from './dom.ts';
import { isActive } from './filter.ts';
import { FATES, look, type Fate } from './picture.ts';
import { TABS, type State, type Tab } from './state.ts';
import { symbol } from './symbol.ts';
import { count, grouped } from './visible.ts';

const TAB_NAMES: Record<Tab, string> = { tree: 'Tree', table: 'Table' };
const PLURALS: Partial<Record<Fate, string>> = { error: 'errors', warning: 'warnings', note: 'notes' };
/** A search begins when nothing was typed for so many milliseconds. */
const TYPING = 80;

export class Toolbar {
  readonly element: HTMLElement;
  readonly tabs: HTMLElement;
  readonly #app: App;
  readonly #search = h('input', {
    type: 'search', id: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, states and details',
    autocomplete: 'off', spellcheck: 'false',
  });
  readonly #fates = h('div', { class: 'fates', role: 'group', 'aria-label': 'Filter by state' });
  readonly #kind = h('select', { 'aria-label': 'Filter by kind' });
  readonly #namespace = h('select', { 'aria-label': 'Filter by namespace' });
  readonly #clear: HTMLButtonElement;
  readonly #found = h('p', { class: 'found', role: 'status' });
  readonly #tabButtons = new Map<Tab, HTMLButtonElement>();
  readonly #beside = h('input', { type: 'checkbox' });
  readonly #besideLabel: HTMLElement;
  readonly #folding: HTMLElement;
  #timer = 0;
  #chipsOf: unknown;

  constructor(app: App) {
    this.#app = app;
    this.#clear = button('Clear', { class: 'clear' }, () => {
      app.go({ search: '', fates: new Set(), kind: '', namespace: undefined });
      this.#search.focus();
    });
    this.#search.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => app.go({ search: this.#search.value }, 'same'), TYPING);
    });
    this.#search.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.#search.value === '') return;
      event.preventDefault();
      event.stopPropagation();
      this.#search.value = '';
      app.go({ search: '' }, 'same');
    });
    this.#kind.addEventListener('change', () => app.go({ kind: this.#kind.value }));
    this.#namespace.addEventListener('change', () => {
      const { value } = this.#namespace;
      app.go({ namespace: value === '' ? undefined : value.slice(1) });
    });
    const kinds = choices(app, (object) => object.kind);
    fill(this.#kind, h('option', { value: '' }, 'All kinds'),
      ...kinds.map(([kind, number]) => option(kind, `${kind} (${grouped(number)})`)));
    // A name follows a sign, because the empty name means objects without a namespace.
    const namespaces = choices(app, (object) => object.namespace ?? '');
    fill(this.#namespace, h('option', { value: '' }, 'All namespaces'), ...namespaces.map(([name, number]) =>
      option(`=${name}`, `${name === '' ? 'without namespace' : name} (${grouped(number)})`)));
    this.#kind.hidden = kinds.length < 2;
    this.#namespace.hidden = namespaces.length < 2;

    this.element = h(
      'div', { class: 'toolbar', role: 'search', 'aria-label': 'Search and filter' },
      this.#search, this.#fates, this.#kind, this.#namespace, this.#clear,
    );
    const tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'What to show' });
    for (const tab of TABS) {
      const made = button(TAB_NAMES[tab], { role: 'tab', id: `tab-${tab}`, 'aria-controls': 'panel' },
        () => app.go({ tab }));
      made.addEventListener('keydown', (event) => this.#tabKey(event, tab));
      this.#tabButtons.set(tab, made);
      tabs.append(made);
    }
    this.#beside.addEventListener('change', () => app.go({ beside: this.#beside.checked }));
    this.#besideLabel = h('label', { class: 'beside-choice' }, this.#beside, 'Table beside');
    this.#folding = h(
      'div', { class: 'folding' },
      button('Expand all', {}, () => this.#setAll(true)), button('Collapse all', {}, () => this.#setAll(false)),
    );
    this.tabs = h('div', { class: 'tabs-line' }, tabs, this.#besideLabel, this.#folding, this.#found);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  show(before: State | undefined): void {
    const app = this.#app;
    const { state } = app;
    if (document.activeElement !== this.#search || before?.search !== state.search) {
      if (this.#search.value.trim() !== state.search.trim()) this.#search.value = state.search;
    }
    this.#kind.value = state.kind;
    this.#namespace.value = state.namespace === undefined ? '' : `=${state.namespace}`;
    this.#clear.hidden = !isActive(state);
    this.#showChips();
    for (const [tab, made] of this.#tabButtons) {
      const isShown = state.tab === tab;
      made.setAttribute('aria-selected', String(isShown));
      made.tabIndex = isShown ? 0 : -1;
    }
    this.#beside.checked = state.beside;
    this.#besideLabel.hidden = state.tab === 'table';
    this.#folding.hidden = state.tab === 'table';
    const rows = app.view.rows.length;
    const text = app.shown ? `${grouped(app.shown.matches)} of ${count(rows, 'line')}` : count(rows, 'line');
    if (this.#found.textContent !== text) this.#found.textContent = text;
  }

  /** A chip for each state that occurs: it is the legend, too. */
  #showChips(): void {
    const { view, state } = this.#app;
    if (this.#chipsOf !== view) {
      const numbers = new Map<Fate, number>();
      // Findings are counted as the verdict counts them, without the objects that they are about.
      const findings = new Set(view.rows.filter((row) => row.object === undefined).map((row) => row.fate));
      for (const row of view.rows) {
        if (row.object !== undefined && PLURALS[row.fate] && findings.has(row.fate)) continue;
        numbers.set(row.fate, (numbers.get(row.fate) ?? 0) + Math.max(1, row.more ?? 0));
      }
      const used = FATES.filter((fate) => numbers.has(fate) || state.fates.has(fate));
      const focused = document.activeElement?.getAttribute('data-fate');
      fill(this.#fates, ...used.map((fate) => button(
        h('span', {}, symbol(fate), count(numbers.get(fate) ?? 0, look(fate).word.toLowerCase(), PLURALS[fate] ?? look(fate).word.toLowerCase())),
        { class: `chip fate-${fate}`, 'data-fate': fate, title: look(fate).meaning },
        () => {
          const fates = new Set(this.#app.state.fates);
          if (!fates.delete(fate)) fates.add(fate);
          this.#app.go({ fates });
        },
      )));
      if (focused) this.#fates.querySelector<HTMLElement>(`[data-fate="${focused}"]`)?.focus();
      this.#fates.hidden = used.length < 2 && state.fates.size === 0;
      this.#chipsOf = view;
    }
    for (const chip of this.#fates.children) {
      chip.setAttribute('aria-pressed', String(state.fates.has(chip.getAttribute('data-fate') as Fate)));
    }
  }

  #setAll(open: boolean): void {
    this.#app.forest.setAllOpen(open);
    if (!open && this.#app.shown) {
      for (const node of this.#app.lines) this.#app.forest.setOpen(node, false, this.#app.shown);
    }
    this.#app.redraw();
    this.#app.say(open ? 'All expanded.' : 'All collapsed.');
  }

  #tabKey(event: KeyboardEvent, tab: Tab): void {
    const at = TABS.indexOf(tab);
    const moves: Record<string, number> = {
      ArrowRight: (at + 1) % TABS.length, ArrowLeft: (at + TABS.length - 1) % TABS.length,
      Home: 0, End: TABS.length - 1,
    };
    const to = TABS[moves[event.key] ?? -1];
    if (!to) return;
    event.preventDefault();
    this.#app.go({ tab: to });
    this.#tabButtons.get(to)?.focus();
  }
}

function option(value: string, text: string): HTMLOptionElement {
  const made = h('option', {}, text);
  // As it is: the attribute would be escaped.
  made.value = value;
  return made;
}

/** The values that objects have, with their numbers, in order. */
function choices(app: App, value: (object: App['picture']['objects'][number]) => string): [string, number][] {
  const numbers = new Map<string, number>();
  for (const object of app.picture.objects) numbers.set(value(object), (numbers.get(value(object)) ?? 0) + 1);
  return [...numbers].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
