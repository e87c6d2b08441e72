// The objects as a table that sorts.
import type { App } from './app.ts';
import { button, h } from './dom.ts';
import { List } from './list.ts';
import { FATES, type KubeObject, type Row } from './picture.ts';
import { COLUMNS, type Column, type State } from './state.ts';
import { symbol } from './symbol.ts';

/** A line: an object with its first row, or a row without an object. */
export interface Entry {
  node: number;
  row: Row;
  object: KubeObject | undefined;
  index: number | undefined;
}

const HEADS: Record<Column, string> = {
  state: 'State', kind: 'Kind', name: 'Name', namespace: 'Namespace', detail: 'Detail', created: 'Created (UTC)',
};

/** What a column shows of an entry. */
export function cell(entry: Entry, column: Column): string {
  const { row, object } = entry;
  switch (column) {
    case 'state': return row.word ?? '';
    case 'kind': return object?.kind ?? '';
    case 'name': return object?.name ?? row.title;
    case 'namespace': return object?.namespace ?? '';
    case 'detail': return row.detail ?? '';
    case 'created': return moment(object?.created);
  }
}

/** `2026-11-24 18:37:05` of a timestamp of the API server. */
export function moment(time: string | undefined): string {
  return (time ?? '').replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, '$1 $2');
}

/** The entries that match, in the order of the state. */
export function entries(app: App): Entry[] {
  const { forest, shown, state } = app;
  const found: Entry[] = [];
  for (let at = 0; at < forest.size; at++) {
    const node = forest.order[at]!;
    const row = forest.row(node);
    if (!row || (shown && !(shown.keep[node]! & 1))) continue;
    // An object with several owners may stand in several rows.
    const index = forest.objectIndex(node);
    if (index !== undefined && forest.rowOf(index) !== node && !isFirstShown(app, node, index)) continue;
    found.push({ node, row, index, object: app.object(index) });
  }
  if (state.sort === '') return found;
  const sort = state.sort;
  const sign = state.down ? -1 : 1;
  // Keys first: each is made once, not at every comparison.
  const keyed = found.map((entry, place) => ({
    entry, place, rank: sort === 'state' ? FATES.indexOf(entry.row.fate) : 0, text: cell(entry, sort),
  }));
  keyed.sort((a, b) => {
    // What has no value comes last in both directions.
    if ((a.text === '') !== (b.text === '') && sort !== 'state') return a.text === '' ? 1 : -1;
    if (a.rank !== b.rank) return sign * (a.rank - b.rank);
    if (a.text !== b.text) return sign * (a.text < b.text ? -1 : 1);
    return a.place - b.place;
  });
  return keyed.map(({ entry }) => entry);
}

/** Whether a row stands for its object because the first row of it is filtered out. */
function isFirstShown(app: App, node: number, object: number): boolean {
  const first = app.forest.rowOf(object);
  return app.shown !== undefined && !(app.shown.keep[first]! & 1) && app.forest.place[first]! < app.forest.place[node]!;
}

export class Table {
  readonly list: List;
  readonly #app: App;
  readonly #heads = new Map<Column, HTMLElement>();
  #entries: Entry[] = [];
  #revision = -1;

  constructor(app: App) {
    this.#app = app;
    const header = h('div', { role: 'row', class: 'line header table-line', 'aria-rowindex': 1 });
    for (const column of COLUMNS) {
      const sort = button(HEADS[column], { class: 'sort' }, () => this.#sort(column));
      const head = h('div', { role: 'columnheader', class: column }, sort);
      this.#heads.set(column, head);
      header.append(head);
    }
    this.list = new List({
      id: 'table', role: 'grid', label: 'All objects', columns: COLUMNS.length, header,
      render: (index) => this.#line(this.#entries[index]!),
      choose: (index) => {
        const entry = this.#entries[index]!;
        this.#app.select(entry.node, entry.index);
      },
    });
  }

  show(before: State | undefined): void {
    const app = this.#app;
    if (app.state.tab !== 'table' && !app.state.beside) return;
    const isSorted = before?.sort === app.state.sort && before.down === app.state.down;
    const active = this.#entries[this.list.active]?.node;
    if (!isSorted || this.#revision !== app.revision) this.#entries = entries(app);
    this.#revision = app.revision;
    for (const [column, head] of this.#heads) {
      const direction = app.state.sort !== column ? 'none' : app.state.down ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', direction);
    }
    const selected = app.selected?.node ?? -1;
    const isAnew = selected >= 0 && (app.state.at !== before?.at || before.tab !== app.state.tab);
    const wanted = isAnew ? selected : before?.view === app.state.view ? active : undefined;
    const at = wanted === undefined ? 0 : this.#entries.findIndex((entry) => entry.node === wanted);
    this.list.update(this.#entries.length, Math.max(0, at));
    if (isAnew && at >= 0) this.list.reveal(at);
  }

  /** Up, down, and back to the order of the tree. */
  #sort(column: Column): void {
    const { sort, down } = this.#app.state;
    if (sort !== column) this.#app.go({ sort: column, down: false });
    else if (!down) this.#app.go({ down: true });
    else this.#app.go({ sort: '', down: false });
    const { state } = this.#app;
    this.#app.say(state.sort === '' ? 'In the order of the tree.'
      : `Sorted by ${HEADS[state.sort]}, ${state.down ? 'descending' : 'ascending'}.`);
  }

  #line(entry: Entry): HTMLElement {
    const { selected, state, difference } = this.#app;
    const isSelected = selected?.node === entry.node && state.at !== '';
    const was = entry.index === undefined ? undefined : difference?.was.get(entry.index);
    return h(
      'div', {
        role: 'row', class: `line table-line fate-${entry.row.fate}${entry.row.loses ? ' loses' : ''}`, 'aria-selected': String(isSelected),
      },
      ...COLUMNS.map((column) => h(
        'div', { role: 'gridcell', class: column, title: cell(entry, column) || undefined },
        column === 'state' ? symbol(entry.row.fate) : null,
        h('bdi', {}, cell(entry, column)),
        column === 'state' && was !== undefined ? h('span', { class: 'tag changed' }, `was: ${was}`) : null,
      )),
    );
  }
}
