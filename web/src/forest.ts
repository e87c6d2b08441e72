// The rows of a view as a forest, with many similar siblings folded into one line. Nothing recurses: chains of owners
// may be very long.
import { FATES, type Fate, type KubeObject, type Picture, type Row, type View } from './picture.ts';
import { grouped } from './visible.ts';

/** More similar siblings than this are folded … */
const FOLD_OVER = 12;
/** … except for the first ones. */
const SHOWN = 8;
/** How many lines a forest shows at first, if it has more. */
const OPEN_AT_FIRST = 400;
/** Up to this many lines it is shown whole. */
const WHOLE = 1500;

/** The fates before this one are told of what is below a closed line. */
const CALM = 'later';

export interface Fold {
  fate: Fate;
  word: string;
  kind: string;
  members: number;
}

/** A set of lines to show: those that match, and what they stand below. */
export interface Shown {
  /** Bit 1: it matches; bit 2: it stands above something that does. */
  keep: Uint8Array;
  matches: number;
}

/** Nodes below `rows.length` are rows of the view, the others are folds. */
export class Forest {
  readonly rows: Row[];
  readonly folds: Fold[] = [];
  readonly size: number;
  /** -1 for roots. */
  readonly parent: Int32Array;
  readonly level: Int32Array;
  /** All nodes, each before those below it, and where each is there. */
  readonly order: Int32Array;
  readonly place: Int32Array;
  /** How many nodes of `order` a node and all below it take. */
  readonly span: Int32Array;
  /** The place among its siblings, from 1, and how many they are. */
  readonly position: Int32Array;
  readonly siblings: Int32Array;
  /** The worst fate below a node, as a place in FATES. */
  readonly worst: Uint8Array;
  /** How many rows are below a node. */
  readonly below: Int32Array;
  readonly open: Uint8Array;
  readonly roots: number;
  /** Whether any line says what becomes of its object. */
  readonly hasWords: boolean;
  /** Lines closed by hand while a filter opens them. */
  readonly closed = new Set<number>();
  readonly #picture: Picture;
  readonly #rowOfObject: Int32Array;

  constructor(picture: Picture, view: View) {
    this.#picture = picture;
    this.rows = view.rows;
    const rows = view.rows.length;
    this.hasWords = view.rows.some((row) => row.word);
    const above = new Int32Array(rows);
    view.rows.forEach((row, index) => {
      above[index] = row.parent !== undefined && row.parent < index ? row.parent : -1;
    });
    const { parent, starts, children } = this.#fold(above);
    this.parent = parent;
    this.size = parent.length;
    this.level = new Int32Array(this.size);
    this.order = new Int32Array(this.size);
    this.place = new Int32Array(this.size);
    this.span = new Int32Array(this.size);
    this.position = new Int32Array(this.size);
    this.siblings = new Int32Array(this.size);
    this.worst = new Uint8Array(this.size).fill(255);
    this.below = new Int32Array(this.size);
    this.open = new Uint8Array(this.size);
    this.roots = starts[this.size + 1]! - starts[this.size]!;
    this.#walk(starts, children);
    this.#sumUp();
    this.#openAtFirst(starts, children);
    this.#rowOfObject = new Int32Array(picture.objects.length).fill(-1);
    // A row of its own is better than one that stands for several objects or points elsewhere, and an earlier one
    // than a later one.
    for (const isOwn of [false, true]) {
      for (let index = rows - 1; index >= 0; index--) {
        const { object, more, points } = view.rows[index]!;
        if (object !== undefined && isOwn === !(more || points)) this.#rowOfObject[object] = index;
      }
    }
  }

  /** Where each node stands after folding, and the children of each node: `children[starts[n]..starts[n + 1]]`. */
  #fold(above: Int32Array): { parent: Int32Array; starts: Int32Array; children: Int32Array } {
    const rows = above.length;
    const before = childrenOf(above);
    const parent = Array.from(above);
    for (let owner = 0; owner <= rows; owner++) {
      const from = before.starts[owner]!;
      const to = before.starts[owner + 1]!;
      if (to - from <= FOLD_OVER) continue;
      const alike = new Map<string, number[]>();
      for (let at = from; at < to; at++) {
        const child = before.children[at]!;
        const row = this.rows[child]!;
        if (row.object === undefined || row.more) continue;
        const key = `${this.#picture.objects[row.object]!.kind}/${row.fate}/${row.word ?? ''}/${row.loses ?? false}`;
        const group = alike.get(key);
        if (group) group.push(child);
        else alike.set(key, [child]);
      }
      for (const group of alike.values()) {
        if (group.length <= FOLD_OVER) continue;
        const fold = rows + this.folds.length;
        const first = this.rows[group[0]!]!;
        const kind = this.#picture.objects[first.object!]!.kind;
        this.folds.push({ fate: first.fate, word: first.word ?? '', kind, members: group.length - SHOWN });
        parent.push(owner === rows ? -1 : owner);
        for (let at = SHOWN; at < group.length; at++) parent[group[at]!] = fold;
      }
    }
    const all = Int32Array.from(parent);
    return { parent: all, ...this.#inOrder(all) };
  }

  /** Children in the order of the rows; a fold stands where its first member stood. */
  #inOrder(parent: Int32Array): { starts: Int32Array; children: Int32Array } {
    const rows = this.rows.length;
    const sequence = new Int32Array(parent.length);
    const isPlaced = new Uint8Array(parent.length);
    let next = 0;
    for (let row = 0; row < rows; row++) {
      const fold = parent[row]!;
      if (fold >= rows && !isPlaced[fold]) {
        isPlaced[fold] = 1;
        sequence[next++] = fold;
      }
      sequence[next++] = row;
    }
    return childrenOf(parent, sequence);
  }

  #walk(starts: Int32Array, children: Int32Array): void {
    const stack: number[] = [];
    const push = (owner: number): void => {
      const from = starts[owner]!;
      const to = starts[owner + 1]!;
      for (let at = to - 1; at >= from; at--) {
        const child = children[at]!;
        this.position[child] = at - from + 1;
        this.siblings[child] = to - from;
        stack.push(child);
      }
    };
    push(this.size);
    for (let next = 0; stack.length > 0; next++) {
      const node = stack.pop()!;
      this.order[next] = node;
      this.place[node] = next;
      const owner = this.parent[node]!;
      this.level[node] = owner < 0 ? 1 : this.level[owner]! + 1;
      push(node);
    }
  }

  #sumUp(): void {
    for (let at = this.size - 1; at >= 0; at--) {
      const node = this.order[at]!;
      const span = ++this.span[node]!;
      const owner = this.parent[node]!;
      if (owner < 0) continue;
      this.span[owner] = this.span[owner]! + span;
      this.below[owner] = this.below[owner]! + this.below[node]! + (this.isFold(node) ? 0 : 1);
      const rank = Math.min(this.worst[node]!, FATES.indexOf(this.fate(node)) >>> 0);
      if (rank < this.worst[owner]!) this.worst[owner] = rank;
    }
  }

  /** Opens all of a small forest, and of a large one the upper levels. */
  #openAtFirst(starts: Int32Array, children: Int32Array): void {
    if (this.size <= WHOLE) {
      for (let node = 0; node < this.size; node++) this.open[node] = this.isFold(node) ? 0 : 1;
      return;
    }
    let shown = this.roots;
    const queue = Array.from(children.subarray(starts[this.size]!, starts[this.size + 1]!));
    for (let at = 0; at < queue.length && shown < OPEN_AT_FIRST; at++) {
      const node = queue[at]!;
      const more = starts[node + 1]! - starts[node]!;
      if (this.isFold(node) || more === 0 || shown + more > OPEN_AT_FIRST) continue;
      this.open[node] = 1;
      shown += more;
      for (let child = starts[node]!; child < starts[node + 1]!; child++) queue.push(children[child]!);
    }
  }

  isFold(node: number): boolean {
    return node >= this.rows.length;
  }

  fold(node: number): Fold | undefined {
    return this.folds[node - this.rows.length];
  }

  row(node: number): Row | undefined {
    return this.rows[node];
  }

  /** The object of a row that stands for one. */
  objectIndex(node: number): number | undefined {
    const row = this.rows[node];
    return row?.more ? undefined : row?.object;
  }

  object(node: number): KubeObject | undefined {
    const index = this.objectIndex(node);
    return index === undefined ? undefined : this.#picture.objects[index];
  }

  /** The first row of an object, or -1. */
  rowOf(object: number): number {
    return this.#rowOfObject[object] ?? -1;
  }

  title(node: number): string {
    const fold = this.fold(node);
    return fold ? `… ${grouped(fold.members)} more of kind ${fold.kind}` : this.rows[node]!.title;
  }

  fate(node: number): Fate {
    return (this.fold(node) ?? this.rows[node]!).fate;
  }

  word(node: number): string {
    return (this.fold(node) ?? this.rows[node]!).word ?? '';
  }

  detail(node: number): string {
    return this.rows[node]?.detail ?? '';
  }

  /** The fate to warn of if a node is closed. */
  trouble(node: number): Fate | undefined {
    const rank = this.worst[node]!;
    return rank < FATES.indexOf(CALM) ? FATES[rank] : undefined;
  }

  hasChildren(node: number, shown?: Shown): boolean {
    return shown ? (shown.keep[node]! & 2) !== 0 : this.span[node]! > 1;
  }

  isOpen(node: number, shown?: Shown): boolean {
    return shown ? !this.closed.has(node) : this.open[node] === 1;
  }

  /** Opens or closes a node; `true` if that changed something. */
  setOpen(node: number, open: boolean, shown?: Shown): boolean {
    const was = this.isOpen(node, shown);
    if (!shown) this.open[node] = open ? 1 : 0;
    else if (open) this.closed.delete(node);
    else this.closed.add(node);
    return was !== open;
  }

  /** Opens everything except folds, or closes everything. */
  setAllOpen(open: boolean): void {
    this.closed.clear();
    for (let node = 0; node < this.size; node++) this.open[node] = open && !this.isFold(node) ? 1 : 0;
  }

  /** Opens what a node stands below. */
  reveal(node: number, shown?: Shown): void {
    for (let owner = this.parent[node]!; owner >= 0; owner = this.parent[owner]!) this.setOpen(owner, true, shown);
  }

  /** Opens what is open in another forest of the same picture. */
  openAs(other: Forest): void {
    this.rows.forEach((row, node) => {
      const there = row.object === undefined ? -1 : other.rowOf(row.object);
      if (there >= 0) this.open[node] = other.open[there]!;
    });
  }

  /** The nodes that stand in a line of their own now, in order. */
  visible(shown?: Shown): Int32Array {
    const nodes = new Int32Array(this.size);
    let found = 0;
    for (let at = 0; at < this.size;) {
      const node = this.order[at]!;
      if (shown && !shown.keep[node]) {
        at += this.span[node]!;
        continue;
      }
      nodes[found++] = node;
      at += this.isOpen(node, shown) ? 1 : this.span[node]!;
    }
    return nodes.subarray(0, found);
  }

  /** The rows that match, and all that they stand below. */
  keep(matches: (row: number) => boolean): Shown {
    const keep = new Uint8Array(this.size);
    let found = 0;
    for (let at = this.size - 1; at >= 0; at--) {
      const node = this.order[at]!;
      if (!this.isFold(node) && matches(node)) {
        keep[node]! |= 1;
        found += 1;
      }
      const owner = this.parent[node]!;
      if (keep[node] && owner >= 0) keep[owner]! |= 2;
    }
    return { keep, matches: found };
  }
}

/** The children of each node, and of none (the last entry), in the order of `sequence`. */
function childrenOf(parent: Int32Array, sequence?: Int32Array): { starts: Int32Array; children: Int32Array } {
  const size = parent.length;
  const starts = new Int32Array(size + 2);
  const owner = (node: number): number => (parent[node]! < 0 ? size : parent[node]!);
  for (let node = 0; node < size; node++) starts[owner(node) + 1]!++;
  for (let at = 1; at < starts.length; at++) starts[at]! += starts[at - 1]!;
  const next = starts.slice();
  const children = new Int32Array(size);
  for (let at = 0; at < size; at++) {
    const node = sequence ? sequence[at]! : at;
    children[next[owner(node)]!++] = node;
  }
  return { starts, children };
}
