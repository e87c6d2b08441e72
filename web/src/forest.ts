// The rows of a view as a forest of lines, with many similar siblings folded into one. Nothing recurses: chains of
// owners may be very long.
import { grouped } from './dom.ts';
import { look, titleOf, type Fate, type KubeObject, type Picture, type Row, type View } from './picture.ts';
import { words, type State } from './state.ts';

/** More similar siblings than this are folded … */
const FOLD_OVER = 12;
/** … except for the first ones. */
const SHOWN = 8;
/** Up to this many lines a forest is shown whole … */
const WHOLE = 1500;
/** … and of a larger one so many at first. */
const OPEN_AT_FIRST = 400;

/** States before this one are told of what is below a closed line. */
const CALM = 'later';

/** The words of findings, which are counted. */
export const PLURALS: Partial<Record<Fate, string>> = { error: 'errors', warning: 'warnings', note: 'notes' };

/** A row of the view, or a fold of several. */
export interface Line {
  row: Row;
  isFold: boolean;
  /** Its object stands in no line of the view: its row is made up. */
  isOutside: boolean;
  /** The object of its row, and its number unless the row stands for several. */
  object: KubeObject | undefined;
  index: number | undefined;
  parent: Line | undefined;
  children: Line[];
  /** How many lines it stands below, and how many of them are no folds. */
  level: number;
  depth: number;
  /** How many rows are below it, and the worst state there. */
  below: number;
  worst: Fate;
  isOpen: boolean;
  /** Closed by hand while a filter opens what it finds. */
  isClosed: boolean;
  /** The filter finds it, or something below it. */
  matches: boolean;
  isAbove: boolean;
  /** Its place in the list that is shown. */
  place: number;
  /** What a search looks at. */
  text?: string;
}

export class Forest {
  /** All lines, each before those below it. */
  readonly all: Line[];
  /** Whether any line says what becomes of its object. */
  readonly hasWords: boolean;
  readonly roots: Line[];
  /** How many rows match the filter. */
  matches = 0;
  isFiltered = false;
  readonly #picture: Picture;
  readonly #lineOf: (Line | undefined)[] = [];

  constructor(picture: Picture, { rows }: View) {
    this.#picture = picture;
    this.hasWords = rows.some((row) => row.word);
    const lines = rows.map((row) => newLine(row, row.object === undefined ? undefined : picture.objects[row.object]));
    const roots: Line[] = [];
    lines.forEach((line, at) => {
      const { parent, object, points } = line.row;
      if (parent !== undefined && parent < at) line.parent = lines[parent];
      (line.parent?.children ?? roots).push(line);
      if (object === undefined) return;
      // A row of its own is better than one that stands for several objects or points elsewhere.
      const known = this.#lineOf[object];
      const isOwn = line.index !== undefined && !points;
      if (!known || (isOwn && (known.index === undefined || known.row.points))) this.#lineOf[object] = line;
    });
    for (const line of lines) line.children = folded(line.children);
    this.roots = folded(roots);
    this.all = walk(this.roots, () => true);
    this.#sumUp();
    this.#openAtFirst();
    this.filter();
  }

  #sumUp(): void {
    for (const line of this.all) {
      const { parent } = line;
      if (!parent) continue;
      line.level = parent.level + 1;
      line.depth = parent.depth + (parent.isFold ? 0 : 1);
    }
    for (const line of [...this.all].reverse()) {
      const { parent } = line;
      if (!parent) continue;
      parent.below += line.below + (line.isFold ? 0 : 1);
      for (const fate of [line.worst, line.row.fate]) {
        if (look(fate).rank < look(parent.worst).rank) parent.worst = fate;
      }
    }
  }

  /** Opens all of a small forest, and of a large one the upper levels. */
  #openAtFirst(): void {
    let room = this.all.length <= WHOLE ? WHOLE : OPEN_AT_FIRST - this.roots.length;
    const queue = [...this.roots];
    for (const line of queue) {
      if (line.isFold || line.children.length > room) continue;
      line.isOpen = true;
      room -= line.children.length;
      queue.push(...line.children);
    }
  }

  /** The first line of an object, or one that is outside. */
  lineOf(index: number): Line {
    const known = this.#lineOf[index];
    if (known) return known;
    const object = this.#picture.objects[index]!;
    const [fate, word] = object.virtual ? ['missing', 'missing'] : ['untouched', 'outside'];
    const row = { object: index, title: titleOf(object), fate, word, detail: 'of this view' };
    return (this.#lineOf[index] = { ...newLine(row, object), isOutside: true });
  }

  isOpen(line: Line): boolean {
    return line.isAbove && (this.isFiltered ? !line.isClosed : line.isOpen);
  }

  setOpen(line: Line, isOpen: boolean): void {
    if (this.isFiltered) line.isClosed = !isOpen;
    else line.isOpen = isOpen;
  }

  /** Opens everything except folds, or closes everything. */
  setAllOpen(isOpen: boolean): void {
    for (const line of this.all) {
      line.isOpen = isOpen && !line.isFold;
      line.isClosed = !isOpen;
    }
  }

  /** Opens what a line stands below. */
  reveal(line: Line): void {
    for (let owner = line.parent; owner; owner = owner.parent) this.setOpen(owner, true);
  }

  /** Opens what is open in another forest of the same picture. */
  openAs(other: Forest): void {
    for (const line of this.all) line.isOpen = other.#lineOf[line.row.object ?? -1]?.isOpen ?? line.isOpen;
  }

  /** Keeps what matches, and what that stands below; without a filter, all. */
  filter(matches?: (line: Line) => boolean): void {
    this.isFiltered = matches !== undefined;
    this.matches = 0;
    for (let at = this.all.length - 1; at >= 0; at--) {
      const line = this.all[at]!;
      line.matches = !line.isFold && (!matches || matches(line));
      line.isAbove = line.children.some((child) => child.matches || child.isAbove);
      line.isClosed = false;
      if (line.matches) this.matches += 1;
    }
  }

  /** The lines to show now, in order. */
  visible(): Line[] {
    return walk(this.roots, (line) => this.isOpen(line)).filter((line) => line.matches || line.isAbove);
  }

  /** What a closed line tells of those below it: the worst state, if it is bad. */
  trouble(line: Line): Fate | undefined {
    return look(line.worst).rank < look(CALM).rank ? line.worst : undefined;
  }
}

function newLine(row: Row, object?: KubeObject, isFold = false): Line {
  return {
    row, isFold, isOutside: false, object, index: row.more ? undefined : row.object, parent: undefined, children: [],
    level: 1, depth: 0, below: 0, worst: 'untouched', isOpen: false, isClosed: false, matches: true, isAbove: false,
    place: 0,
  };
}

/** Siblings of which many similar ones stand below a line of their own, where the first of these stood. */
function folded(siblings: Line[]): Line[] {
  if (siblings.length <= FOLD_OVER) return siblings;
  const groups = new Map<string, Line[]>();
  for (const line of siblings) {
    const { fate, word, loses } = line.row;
    if (line.index === undefined) continue;
    const key = [line.object!.kind, fate, word, loses].join('/');
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  for (const group of groups.values()) {
    if (group.length <= FOLD_OVER) continue;
    const { row: { fate, word }, object, parent } = group[0]!;
    const title = `… ${grouped(group.length - SHOWN)} more of kind ${object!.kind}`;
    const fold = newLine({ title, fate, ...(word === undefined ? {} : { word }) }, undefined, true);
    fold.parent = parent;
    fold.children = group.slice(SHOWN);
    for (const member of fold.children) member.parent = fold;
  }
  return siblings
    .filter(({ parent }, at) => !parent?.isFold || parent.children[0] === siblings[at])
    .map((line) => (line.parent?.isFold ? line.parent : line));
}

/** Lines and what stands below those that are open, in order. */
export function walk(roots: readonly Line[], isOpen: (line: Line) => boolean): Line[] {
  const found: Line[] = [];
  const stack = [...roots].reverse();
  for (let line = stack.pop(); line; line = stack.pop()) {
    found.push(line);
    if (!isOpen(line)) continue;
    for (let at = line.children.length - 1; at >= 0; at--) stack.push(line.children[at]!);
  }
  return found;
}

/** Says of a line whether it is what the reader looks for. Every word must occur, in any case and anywhere. */
export function matcher({ search, state, kind, namespace }: State): (line: Line) => boolean {
  const wanted = words(search.toLowerCase());
  const fates = words(state);
  return (line) => {
    const { row, object } = line;
    if (fates.length > 0 && !fates.includes(row.fate)) return false;
    if (kind !== '' && object?.kind !== kind) return false;
    if (namespace !== '' && (!object || (object.namespace ?? '-') !== namespace)) return false;
    if (wanted.length === 0) return true;
    line.text ??= [
      row.title, row.word, row.detail, object?.kind, object?.name, object?.namespace, object?.apiVersion,
      ...(object?.finalizers ?? []),
    ].join('\n').toLowerCase();
    return wanted.every((word) => line.text!.includes(word));
  };
}

/** How many objects end in each state, the worst first. Findings count as in the verdict, without their objects. */
export function numbersOf(rows: readonly Row[]): Map<Fate, number> {
  const numbers = new Map<Fate, number>();
  const findings = new Set(rows.filter((row) => row.object === undefined).map((row) => row.fate));
  for (const { object, points, fate, more } of rows) {
    if (points || (object !== undefined && PLURALS[fate] && findings.has(fate))) continue;
    numbers.set(fate, (numbers.get(fate) ?? 0) + Math.max(1, more ?? 0));
  }
  return new Map([...numbers].sort(([a], [b]) => look(a).rank - look(b).rank));
}
