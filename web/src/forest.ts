// The rows of a view as lines, with many similar siblings folded into one. Lines are numbered from top to bottom, and
// all below a line comes right after it: so nothing recurses, and chains of owners may be very long.
import { data, fateOf, grouped, isFinding, textOf, titleOf, words, type View } from './data.ts';

/** More similar siblings than this are folded … */
const FOLD_OVER = 12;
/** … except for the first ones. */
const SHOWN = 8;
/** Up to this many lines a forest is shown whole … */
const WHOLE = 1500;
/** … and of a larger one so many at first. */
const OPEN_AT_FIRST = 400;

/** What the reader looks for: words, names of states, a kind, and a namespace (`-` for what has none). */
export const UNFILTERED = { search: '', state: '', kind: '', namespace: '' };
type Filter = typeof UNFILTERED;

export type Forest = ReturnType<typeof forestOf>;

/** Without a line, -1. */
export function forestOf(view: View) {
  const { rows } = view;
  const { up, heads } = folded(view);
  const size = up.length;
  const numbers = (value = 0, length = size): Int32Array => new Int32Array(length).fill(value);
  /** The row of a line; of a fold, the first one in it. */
  const row = numbers();
  /** How many siblings a line folds; 0 if it is a row. */
  const folds = numbers();
  const parent = numbers(-1);
  /** The first line that is not below it. */
  const end = numbers();
  /** How many lines it stands below, from 1. */
  const level = numbers(1);
  const lineOfRow = numbers();
  /** Of objects, the line; -1 if it is outside of the view. */
  const lineOf = numbers(-1, data.objects.name.length);
  /** The filter finds it, or something below it. */
  const matches = numbers();
  const isAbove = numbers();
  const opened = numbers();
  /** What is open now: a filter opens what it finds. */
  let open = opened;
  const texts: string[] = [];

  const fate = (line: number): number => rows.fate[row[line]!]!;
  const title = (line: number): string => {
    const object = rows.object[row[line]!]! - 1;
    if (!folds[line]) return textOf(rows.title, row[line]!) || titleOf(object);
    return `… ${grouped(folds[line]!)} more of kind ${textOf(data.objects.kind, object)}`;
  };
  const untouched = fateOf('untouched');
  /** Its own word, or that of its state, but of what is untouched. */
  const word = (line: number): string =>
    textOf(rows.word, row[line]!) || (fate(line) === untouched ? '' : data.states[fate(line)]!.word);
  const detail = (line: number): string => (folds[line] ? '' : textOf(rows.detail, row[line]!));
  /** Also of a line that stands for several. */
  const object = (line: number): number => (folds[line] ? -1 : rows.object[row[line]!]! - 1);

  // Siblings in the order of their rows. A fold stands where the first one in it stood.
  const [first, next] = [numbers(-1, size + 1), numbers(-1)];
  const prepend = (node: number): void => {
    const owner = up[node]! < 0 ? size : up[node]!;
    next[node] = first[owner]!;
    first[owner] = node;
  };
  for (let at = rows.fate.length - 1; at >= 0; at--) {
    prepend(at);
    if (heads.has(at)) prepend(up[at]!);
  }
  for (let line = 0, node = first[size]!; line < size; line++) {
    lineOfRow[node] = line;
    folds[line] = node < rows.fate.length ? 0 : heads.get(first[node]!)!;
    row[line] = folds[line] ? first[node]! : node;
    parent[line] = lineOfRow[up[node]!] ?? -1;
    level[line] = (level[parent[line]!] ?? 0) + 1;
    end[line] = line + 1;
    if (first[node]! >= 0) {
      node = first[node]!;
      continue;
    }
    for (; next[node]! < 0 && up[node]! >= 0; end[lineOfRow[node]!] = line + 1) node = up[node]!;
    node = next[node]!;
  }

  // A row of its own is better than one that stands for several objects or points elsewhere.
  const isOwn = (row: number): boolean => !rows.more[row] && !(rows.flags[row]! & 1);
  rows.object.forEach((object, at) => {
    const known = lineOf[object - 1] ?? 0;
    if (known < 0 || (isOwn(at) && !isOwn(row[known]!))) lineOf[object - 1] = lineOfRow[at]!;
  });

  const forest = {
    view, size, row, folds, parent, level, lineOfRow, lineOf, matches, isAbove, fate, title, word, detail, object,
    /** How many rows match the filter. */
    found: 0,
    isFiltered: false,
    numbers: numbersOf(view),

    /** The object that a line stands for alone. */
    own: (line: number): number => (rows.more[row[line]!] ? -1 : object(line)),

    loses: (line: number): boolean => !folds[line] && (rows.flags[row[line]!]! & 2) > 0,

    /** What becomes of an object: its state, the word for it, and why. Of what is outside nothing is said. */
    endOf(object: number, line = lineOf[object]!): { fate: number; word: string; detail: string } {
      if (line >= 0) return { fate: fate(line), word: word(line), detail: detail(line) };
      const isMissing = (data.objects.flags[object]! & 2) > 0;
      const end = isMissing ? fateOf('missing') : untouched;
      return { fate: end, word: isMissing ? data.states[end]!.word : 'outside', detail: 'of this view' };
    },

    isOpen: (line: number): boolean => isAbove[line]! > 0 && open[line]! > 0,

    setOpen(line: number, isOpen: boolean): void {
      open[line] = isOpen ? 1 : 0;
    },

    /** Opens everything except folds, or closes everything. */
    setAllOpen(isOpen: boolean): void {
      folds.forEach((fold, line) => (opened[line] = isOpen && !fold ? 1 : 0));
      if (open !== opened) open.fill(isOpen ? 1 : 0);
    },

    /** Opens what a line stands below. */
    reveal(line: number): void {
      for (let above = parent[line]!; above >= 0; above = parent[above]!) forest.setOpen(above, true);
    },

    /** Opens what is open in another forest. */
    openAs(other: { isOpened(object: number): number | undefined }): void {
      opened.forEach((isOpen, line) => (opened[line] = other.isOpened(object(line)) ?? isOpen));
    },
    isOpened: (object: number): number | undefined => opened[lineOf[object] ?? -1],

    /** The rows below a line, and the worst state there. */
    below(line: number): { lines: number[]; worst: number } {
      const lines: number[] = [];
      let worst = data.states.length;
      for (let at = line + 1; at < end[line]!; at++) {
        if (!folds[at]) lines.push(at);
        worst = Math.min(worst, fate(at));
      }
      return { lines, worst };
    },

    /** Keeps what matches, and what that stands below; without a filter, all. Every word must occur, in any case. */
    filter({ search, state, kind, namespace }: Filter): void {
      const { objects } = data;
      const searched = words(search.toLowerCase());
      const fates = words(state).map(fateOf);
      const isWanted = (line: number): boolean => {
        const of = object(line);
        if (folds[line] || (fates.length > 0 && !fates.includes(fate(line)))) return false;
        if (kind !== '' && textOf(objects.kind, of) !== kind) return false;
        if (namespace !== '' && (of < 0 || (textOf(objects.namespace, of) || '-') !== namespace)) return false;
        if (searched.length === 0) return true;
        const text = texts[line] ??= `${title(line)}\n${of < 0 ? '' : titleOf(of)}\n${word(line)}\n${detail(line)}\n${
          [objects.namespace, objects.apiVersion, objects.finalizers].map((column) => textOf(column, of)).join('\n')
        }`.toLowerCase();
        return searched.every((word) => text.includes(word));
      };
      forest.isFiltered = (search + state + kind + namespace).trim() !== '';
      open = forest.isFiltered ? numbers(1) : opened;
      forest.found = 0;
      isAbove.fill(0);
      for (let line = size - 1; line >= 0; line--) {
        matches[line] = isWanted(line) ? 1 : 0;
        forest.found += matches[line]!;
        if (matches[line] || isAbove[line]) isAbove[parent[line]!] = 1;
      }
    },

    /** The lines to show now. */
    visible(): number[] {
      const found: number[] = [];
      for (let line = 0; line < size;) {
        const isShown = matches[line] || isAbove[line];
        if (isShown) found.push(line);
        line = isShown && forest.isOpen(line) ? line + 1 : end[line]!;
      }
      return found;
    },
  };

  forest.filter(UNFILTERED);
  // All of a small forest is open, and of a large one the upper levels.
  const between = (from: number, to: number): number[] => {
    const siblings: number[] = [];
    for (let line = from; line < to; line = end[line]!) siblings.push(line);
    return siblings;
  };
  const shown = between(0, size);
  let room = size <= WHOLE ? WHOLE : OPEN_AT_FIRST - shown.length;
  for (const line of shown) {
    const below = between(line + 1, end[line]!);
    if (folds[line] || below.length > room) continue;
    opened[line] = 1;
    room -= below.length;
    shown.push(...below);
  }
  return forest;
}

/** What rows stand below; after them folds, which similar siblings are moved below; by the first one, how many. */
function folded({ rows: { object, parent, fate, word, more, flags } }: View) {
  const up = parent.map((above, row) => (above > 0 && above <= row ? row - above : -1));
  const groups = new Map<string, number[]>();
  up.forEach((above, row) => {
    if (!object[row] || more[row]) return;
    const key = [above, data.objects.kind[object[row]! - 1], fate[row], word[row], flags[row]! & 2].join();
    if (!groups.get(key)?.push(row)) groups.set(key, [row]);
  });
  const heads = new Map<number, number>();
  for (const group of groups.values()) {
    if (group.length <= FOLD_OVER) continue;
    const fold = up.push(up[group[0]!]!) - 1;
    heads.set(group[SHOWN]!, group.length - SHOWN);
    for (const row of group.slice(SHOWN)) up[row] = fold;
  }
  return { up, heads };
}

/** How many objects end in each state. Findings count as in the verdict, without their objects. */
function numbersOf({ rows: { object, fate, more, flags } }: View): number[] {
  const numbers = data.states.map(() => 0);
  const findings = new Set(fate.filter((fate, row) => !object[row] && isFinding(fate)));
  fate.forEach((fate, row) => {
    if (!(flags[row]! & 1) && !(object[row] && findings.has(fate))) numbers[fate]! += Math.max(1, more[row]!);
  });
  return numbers;
}

/** The objects that end in other words in one forest than in another. */
export function changes(from: Forest, to: Forest): number[] {
  return data.objects.name.map((_, at) => at).filter((at) => from.endOf(at).word !== to.endOf(at).word);
}
