// The forest as lines: what stands below what, what becomes of it, and why.
import type { App } from './app.ts';
import { h } from './dom.ts';
import { List } from './list.ts';
import { look } from './picture.ts';
import type { State } from './state.ts';
import { symbol } from './symbol.ts';
import { grouped } from './visible.ts';

/** Deeper lines are indented no further; they name their depth. */
const DEEPEST = 10;
/** The room of the name of a depth, in steps. */
const NAMED = 4;

export class Tree {
  readonly list: List;
  readonly #app: App;
  /** The lines that are shown. */
  #lines: Int32Array = new Int32Array(0);

  constructor(app: App) {
    this.#app = app;
    const header = h(
      'div', { role: 'row', class: 'line header tree-line', 'aria-rowindex': 1 },
      h('div', { role: 'columnheader' }, 'Object'),
      h('div', { role: 'columnheader' }, 'State'),
      h('div', { role: 'columnheader' }, 'Detail'),
    );
    this.list = new List({
      id: 'tree', role: 'treegrid', label: 'Owners, and their dependents below them', columns: 3, header,
      render: (index) => this.#line(this.#lines[index]!),
      choose: (index, event) => this.#choose(this.#lines[index]!, event),
      key: (index, event) => this.#key(index, event),
    });
  }

  show(before: State | undefined): void {
    const app = this.#app;
    if (app.state.tab !== 'tree') return;
    const active = before?.view === app.state.view ? this.#lines[this.list.active] : undefined;
    this.#lines = app.lines;
    const selected = app.selected?.node ?? -1;
    const isAnew = selected >= 0 && (app.state.at !== before?.at || before.tab !== 'tree' || active === undefined);
    const at = isAnew ? this.#lines.indexOf(selected) : this.#placeOf(active);
    this.list.update(this.#lines.length, Math.max(0, at));
    if (isAnew && at >= 0) this.list.reveal(at);
  }

  /** The line of a node, or of what it is folded into. */
  #placeOf(node: number | undefined): number {
    for (let at = node ?? -1; at >= 0; at = this.#app.forest.parent[at]!) {
      const place = this.#lines.indexOf(at);
      if (place >= 0) return place;
    }
    return 0;
  }

  #choose(node: number, event: Event): void {
    const { forest, shown } = this.#app;
    const isTwisty = event.target instanceof Element && event.target.closest('.twisty') !== null;
    if (forest.isFold(node) || (isTwisty && forest.hasChildren(node, shown))) this.#toggle(node);
    else this.#app.select(node, forest.objectIndex(node));
  }

  #toggle(node: number): void {
    const { forest, shown } = this.#app;
    forest.setOpen(node, !forest.isOpen(node, shown), shown);
    this.#app.redraw();
  }

  #key(index: number, event: KeyboardEvent): boolean {
    const { forest, shown } = this.#app;
    const node = this.#lines[index]!;
    const hasChildren = forest.hasChildren(node, shown);
    const isOpen = hasChildren && forest.isOpen(node, shown);
    switch (event.key) {
      case 'ArrowRight':
        if (isOpen) this.list.activate(index + 1);
        else if (hasChildren) this.#toggle(node);
        return true;
      case 'ArrowLeft':
        if (isOpen) this.#toggle(node);
        else if (forest.parent[node]! >= 0) this.list.activate(this.#placeOf(forest.parent[node]));
        return true;
      case '*':
        for (const sibling of this.#lines) {
          if (forest.parent[sibling] === forest.parent[node]) forest.setOpen(sibling, true, shown);
        }
        this.#app.redraw();
        return true;
      default:
        return false;
    }
  }

  #line(node: number): HTMLElement {
    const { forest, shown, selected, difference, state } = this.#app;
    const fold = forest.fold(node);
    const object = forest.object(node);
    const hasChildren = forest.hasChildren(node, shown);
    const isOpen = hasChildren && forest.isOpen(node, shown);
    const depth = forest.level[node]! - 1;
    const isSelected = selected?.node === node && state.at !== '';
    const indent = h('span', { class: 'indent' });
    indent.style.setProperty('--depth', String(depth > DEEPEST ? DEEPEST - NAMED : depth));
    const trouble = hasChildren && !isOpen ? forest.trouble(node) : undefined;
    const index = forest.objectIndex(node);
    const was = index === undefined ? undefined : difference?.was.get(index);
    const word = forest.word(node);
    return h(
      'div', {
        role: 'row',
        class: [
          'line tree-line', `fate-${forest.fate(node)}`, fold ? 'fold' : '', forest.row(node)?.loses ? 'loses' : '',
          shown && !(shown.keep[node]! & 1) ? 'aside' : '',
        ].join(' '),
        'aria-level': depth + 1,
        'aria-expanded': hasChildren ? String(isOpen) : undefined,
        'aria-selected': String(isSelected),
        'aria-setsize': forest.siblings[node]!,
        'aria-posinset': forest.position[node]!,
      },
      h(
        'div', { role: 'gridcell', class: 'object' },
        indent,
        depth > DEEPEST ? h('span', { class: 'depth' }, `level ${grouped(depth + 1)}`) : null,
        h('span', { class: 'twisty', 'aria-hidden': 'true' }, hasChildren ? (isOpen ? '▾' : '▸') : ''),
        forest.hasWords ? null : symbol(forest.fate(node)),
        h('bdi', { class: 'title', title: forest.title(node) }, forest.title(node)),
        object?.virtual && word === '' ? h('span', { class: 'tag' }, 'does not exist') : null,
        hasChildren && !isOpen && !fold ? h('span', { class: 'tag' }, `+${grouped(forest.below[node]!)}`) : null,
        trouble ? h('span', { class: 'tag below' }, symbol(trouble), `${look(trouble).word} below`) : null,
        was === undefined ? null : h('span', { class: 'tag changed' }, `was: ${was}`),
      ),
      h('div', { role: 'gridcell', class: 'word' }, forest.hasWords ? symbol(forest.fate(node)) : null, ' ', word),
      h('div', { role: 'gridcell', class: 'detail', title: forest.detail(node) || undefined },
        h('bdi', {}, forest.detail(node))),
    );
  }
}
