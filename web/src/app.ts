// What the page shows now, and the parts that show it.
import { difference, type Difference } from './difference.ts';
import { isActive, Searcher } from './filter.ts';
import { Forest, type Shown } from './forest.ts';
import type { Fate, KubeObject, Picture, View } from './picture.ts';
import { Relations } from './relations.ts';
import { read, START, write, type State } from './state.ts';

/** An object of the picture, a line of the view, or both. */
export interface Selected {
  object: number | undefined;
  /** The line, or -1 if the view has none. */
  node: number;
}

/** Names of API servers; others, from a dump, might not come through a link as they are. */
const PLAIN = /^[a-z0-9]{1,63}(\/[a-z0-9.:-]{0,253}){2}$/;

/** How a link names an object: so it fits tomorrow's page, too. */
function placeOf(object: KubeObject): string {
  return `${object.kind.toLowerCase()}/${object.namespace ?? ''}/${object.name}`;
}

/** What needs attention most. */
const WORST: ReadonlySet<Fate> = new Set(['stuck', 'error']);

/** Shows a part of the state. */
export type Part = (app: App, before: State | undefined) => void;

export class App {
  readonly picture: Picture;
  readonly relations: Relations;
  state: State = START;
  view: View;
  forest: Forest;
  shown: Shown | undefined;
  selected: Selected | undefined;
  difference: Difference | undefined;
  /** The lines of the tree now. */
  lines: Int32Array = new Int32Array(0);
  /** Changes whenever the lines do. */
  revision = 0;
  readonly #forests = new Map<View, Forest>();
  readonly #searcher: Searcher;
  readonly #byPlace = new Map<string, number>();
  readonly #parts: Part[] = [];
  #live: HTMLElement | undefined;

  constructor(picture: Picture) {
    this.picture = picture;
    this.relations = new Relations(picture);
    this.#searcher = new Searcher(picture);
    picture.objects.forEach((object, index) => {
      const place = placeOf(object);
      if (PLAIN.test(place) && !this.#byPlace.has(place)) this.#byPlace.set(place, index);
    });
    this.view = picture.views[picture.shown] ?? picture.views[0]!;
    this.forest = this.forestOf(this.view);
  }

  start(parts: Part[], live: HTMLElement): void {
    this.#parts.push(...parts);
    this.#live = live;
    const follow = (): void => {
      if (location.hash.replace(/^#/, '') !== write(this.state)) this.#show(read(location.hash));
    };
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
    this.#show(read(location.hash));
    // What other policies do is made ready while the reader looks at this one.
    for (const view of this.picture.views) setTimeout(() => this.forestOf(view), 50);
  }

  /** Changes what is shown. A step is one that the browser's back button takes back. */
  go(change: Partial<State>, kind: 'step' | 'same' = 'step'): void {
    const state = { ...this.state, ...change };
    if (write(state) === write(this.state)) return;
    this.#show(state);
    const hash = write(this.state);
    const address = hash === '' ? location.href.replace(/#.*$/, '') : `#${hash}`;
    try {
      if (kind === 'step') history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    } catch {
      // A frame may forbid it: the page works without a link.
    }
  }

  /** Shows the lines again, after some were opened or closed. */
  redraw(): void {
    this.#reline();
    for (const part of this.#parts) part(this, this.state);
  }

  /** Tells a screen reader. */
  say(text: string): void {
    if (this.#live) this.#live.textContent = text;
  }

  select(node: number, object: number | undefined): void {
    this.go({ at: this.idOf(node, object) });
  }

  /** Selects the next line, in the order of the tree, that needs attention most. */
  selectWorst(): void {
    const { forest, shown } = this;
    const from = this.selected && this.selected.node >= 0 ? forest.place[this.selected.node]! : -1;
    for (let step = 1; step <= forest.size; step++) {
      const node = forest.order[(from + step) % forest.size]!;
      const isBad = WORST.has(forest.fate(node)) || forest.row(node)?.loses;
      if (forest.isFold(node) || !isBad || (shown && !(shown.keep[node]! & 1))) continue;
      this.select(node, forest.objectIndex(node));
      return;
    }
    this.say('Nothing is stuck or loses data.');
  }

  /** How a link names an object or a line. */
  idOf(node: number, object: number | undefined): string {
    if (object === undefined) return node < 0 ? '' : `row-${node}`;
    const place = placeOf(this.picture.objects[object]!);
    return this.#byPlace.get(place) === object ? place : `object-${object}`;
  }

  object(index: number | undefined): KubeObject | undefined {
    return index === undefined ? undefined : this.picture.objects[index];
  }

  /** The forest of a view; made when it is first wanted. */
  forestOf(view: View): Forest {
    const known = this.#forests.get(view);
    if (known) return known;
    const forest = new Forest(this.picture, view);
    this.#forests.set(view, forest);
    return forest;
  }

  #show(state: State): void {
    const before = this.#parts.length > 0 && this.revision > 0 ? this.state : undefined;
    this.state = state;
    const { views, shown } = this.picture;
    const view = views.find((view) => view.name === state.view && state.view !== '') ?? views[shown] ?? views[0]!;
    if (view !== this.view) {
      const old = this.forest;
      // A link that is opened has no policy before.
      this.difference = before && difference(old, this.forestOf(view), this.view.name, this.picture.objects.length);
      this.forest = this.forestOf(view);
      this.forest.openAs(old);
      this.view = view;
    }
    const isFiltered = isActive(state);
    const isSame = before && isFiltered && this.shown && sameFilter(before, state);
    if (!isSame || view.name !== before?.view) {
      if (!before || !sameFilter(before, state)) this.forest.closed.clear();
      this.shown = isFiltered ? this.forest.keep(this.#searcher.matcher(state, view.rows)) : undefined;
    }
    this.selected = this.#find(state.at);
    const node = this.selected?.node ?? -1;
    if (node >= 0 && state.at !== before?.at && (!this.shown || this.shown.keep[node])) {
      this.forest.reveal(node, this.shown);
    }
    this.#reline();
    for (const part of this.#parts) part(this, before);
  }

  #reline(): void {
    this.lines = this.forest.visible(this.shown);
    this.revision += 1;
  }

  #find(at: string): Selected | undefined {
    if (at === '') return undefined;
    const row = /^row-(\d+)$/.exec(at)?.[1];
    if (row !== undefined && this.view.rows[Number(row)]) return { object: undefined, node: Number(row) };
    const byNumber = /^object-(\d+)$/.exec(at)?.[1];
    const object = this.#byPlace.get(at) ?? (byNumber === undefined ? undefined : Number(byNumber));
    if (object === undefined || !this.picture.objects[object]) return undefined;
    return { object, node: this.forest.rowOf(object) };
  }
}

function sameFilter(a: State, b: State): boolean {
  return a.search === b.search && a.kind === b.kind && a.namespace === b.namespace &&
    a.fates.size === b.fates.size && [...a.fates].every((fate) => b.fates.has(fate));
}
