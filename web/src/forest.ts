// The rows of a view as lines. All below a line comes right after it: so nothing recurses, and chains of owners may be
// very long. A line that stands for many similar siblings has the number of the first of them with all bits turned (~).
import { data, fateOf, grouped, isFinding, textOf, titleOf, type View } from './data.ts';

/** More similar siblings than this are folded, but for the first ones. */
const FOLD_OVER = 12;
const SHOWN = 8;
/** Up to this many lines a forest is open, and of a larger one so many at first. */
const WHOLE = 1500;
const OPEN_AT_FIRST = 400;

/** The columns of the table. The tree has one for the object, instead. */
export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail', 'created'] as const;
export type Column = 'object' | (typeof COLUMNS)[number];
export type Forest = ReturnType<typeof forestOf>;

/** What is closed is so in all views: objects by their place, and other lines by one below 0. */
export function forestOf(view: View, closed: Set<number>) {
  const { rows } = view;
  const { objects, states } = data;
  const size = rows.fate.length;
  const filled = (value: number, length = size): Int32Array => new Int32Array(length).fill(value);
  const parent = Int32Array.from(rows.parent, (above, line) => (above ? line - above : -1));
  /** How many lines it stands below, from 1. */
  const level = filled(1);
  /** The first line that is not below it. */
  const end = Int32Array.from(rows.fate, (_, line) => line + 1);
  /** The worst state of it and of all below it. */
  const worst = Int32Array.from(rows.fate);
  /** The line of an object; -1 if it is outside of the view. */
  const lineOf = filled(-1, objects.name.length);
  /** The first of the similar siblings that a line is folded with, or -1. */
  const fold = filled(-1);
  /** How many these are. */
  const folds = filled(0);
  const unfolded = new Set<number>();
  /** How many objects end in each state. Findings count as in the verdict, without their objects. */
  const numbers = states.map(() => 0);
  /** The filter finds it, or something below it. */
  const matches = filled(1);
  const isAbove = filled(0);
  const texts: string[] = [];
  /** A filter shows what it finds, whatever is closed. */
  let closedNow = closed;

  const isOwn = (line: number): boolean => !rows.more[line] && !(rows.flags[line]! & 1);
  const key = (line: number): number => rows.object[line] || -1 - line;
  // Places that are none, like that above a root, are left alone.
  for (let line = size - 1; line >= 0; line--) {
    const [up, object] = [parent[line]!, rows.object[line]! - 1];
    end[up] = Math.max(end[up]!, end[line]!);
    worst[up] = Math.min(worst[up]!, worst[line]!);
    // A row of its own is better than one that stands for several objects or points elsewhere.
    const known = lineOf[object]!;
    if (known < 0 || isOwn(line) || !isOwn(known)) lineOf[object] = line;
  }
  const findings = new Set(rows.fate.filter((fate, line) => isFinding(fate) && !rows.object[line]));
  const alike = new Map<string, number[]>();
  rows.fate.forEach((fate, line) => {
    const [up, object, isElsewhere] = [parent[line]!, rows.object[line]!, rows.flags[line]! & 1];
    level[line] = (level[up] ?? 0) + 1;
    if (!isElsewhere && !(object && findings.has(fate))) numbers[fate]! += Math.max(1, rows.more[line]!);
    if (!object || rows.more[line]) return;
    const same = `${up} ${objects.kind[object - 1]} ${fate} ${rows.word[line]} ${rows.flags[line]! & 2} ${worst[line]}`;
    if (!alike.get(same)?.push(line)) alike.set(same, [line]);
  });
  for (const lines of alike.values()) {
    const folded = lines.length > FOLD_OVER ? lines.slice(SHOWN) : [];
    for (const line of folded) fold[line] = folded[0]!;
    folds[folded[0] ?? -1] = folded.length;
  }
  // Of a large forest the upper levels are open, as far as there is room.
  const levels = size > WHOLE ? [...level.keys()].sort((a, b) => level[a]! - level[b]!) : [];
  const children = filled(0);
  parent.forEach((up, line) => (children[up]! += fold[line]! < 0 || fold[line] === line ? 1 : 0));
  let room = OPEN_AT_FIRST;
  for (const line of levels) {
    if (room < children[line]! || fold[line]! >= 0 || closed.has(key(parent[line]!))) closed.add(key(line));
    else room -= children[line]!;
  }

  const row = (line: number): number => (line < 0 ? ~line : line);
  const fate = (line: number): number => rows.fate[row(line)]!;
  const own = (line: number): number => (rows.more[line] ? -1 : (rows.object[line] ?? 0) - 1);
  const isOpen = (line: number): boolean => isAbove[line]! > 0 && !closedNow.has(key(line));
  const untouched = fateOf('untouched');
  /** Its own word, or that of its state, but of what is untouched. */
  const word = (line: number): string =>
    textOf(rows.word, line) || (fate(line) === untouched ? '' : states[fate(line)]!.word);

  const forest = {
    view, size, parent, level, end, worst, lineOf, matches, numbers, row, fate, own, isOpen,
    /** How many rows match the filter. */
    found: size,
    isFiltered: false,
    /** How many rows lose data. */
    lost: rows.flags.filter((flags) => flags & 2).length,
    loses: (line: number): boolean => (rows.flags[line]! & 2) > 0,
    isClosed: (line: number): boolean => line < 0 || (isAbove[line]! > 0 && !isOpen(line)),

    /** The text in a column. */
    cell(line: number, column: Column): string {
      const at = row(line);
      const object = rows.object[at]! - 1;
      switch (column) {
        case 'object':
          if (line < 0) return `… ${grouped(folds[at]!)} more of kind ${textOf(objects.kind, object)}`;
          return textOf(rows.title, at) || titleOf(object);
        case 'state': return word(at);
        case 'detail': return line < 0 ? '' : textOf(rows.detail, at);
        case 'name': return objects.name[own(at)] ?? textOf(rows.title, at);
        default: return textOf(objects[column], object);
      }
    },

    /** What becomes of an object: its state, the word for it, and why. Of what is outside nothing is said. */
    endOf(object: number, line = lineOf[object]!): [fate: number, word: string, detail: string] {
      if (line >= 0) return [fate(line), word(line), textOf(rows.detail, line)];
      const isMissing = objects.flags[object]! & 2;
      return isMissing ? [fateOf('missing'), 'missing', ''] : [untouched, 'outside', 'of this view'];
    },

    toggle(line: number): void {
      if (line < 0) unfolded.add(~line);
      else if (!closedNow.delete(key(line))) closedNow.add(key(line));
    },

    /** Opens everything except folds, or closes everything. */
    setAllOpen(isOpen: boolean): void {
      closedNow.clear();
      if (isOpen) return;
      unfolded.clear();
      rows.fate.forEach((_, line) => closedNow.add(key(line)));
    },

    /** Opens what a line stands below. */
    reveal(line: number): void {
      for (let at = line; at >= 0; at = parent[at]!) {
        if (at !== line) closedNow.delete(key(at));
        unfolded.add(fold[at]!);
      }
    },

    /** Keeps what matches, and what that stands below. Every word must occur, in any case, and one of the states. */
    filter(search: string, state: string): void {
      const [words, names] = [search.toLowerCase(), state].map((text) => text.match(/\S+/g) ?? []);
      const fates = names!.map(fateOf).filter((fate) => fate >= 0);
      const textOfLine = (line: number): string => texts[line] ??= [
        forest.cell(line, 'object'), ...COLUMNS.map((column) => forest.cell(line, column)),
        ...[objects.apiVersion, objects.finalizers].map((of) => textOf(of, rows.object[line]! - 1)),
      ].join('\n').toLowerCase();
      forest.isFiltered = words!.length + fates.length > 0;
      closedNow = forest.isFiltered ? new Set() : closed;
      forest.found = 0;
      isAbove.fill(0);
      for (let line = size - 1; line >= 0; line--) {
        const isWanted = fates.length === 0 || fates.includes(rows.fate[line]!);
        matches[line] = isWanted && words!.every((word) => textOfLine(line).includes(word)) ? 1 : 0;
        forest.found += matches[line]!;
        if (matches[line] || isAbove[line]) isAbove[parent[line]!] = 1;
      }
    },

    /** The lines to show now, or all that the filter leaves. */
    visible(isAll = false): number[] {
      const found: number[] = [];
      for (let line = 0; line < size;) {
        const isFolded = !isAll && !forest.isFiltered && fold[line]! >= 0 && !unfolded.has(fold[line]!);
        const isShown = !isFolded && (matches[line] || isAbove[line]);
        if (isShown) found.push(line);
        else if (isFolded && fold[line] === line) found.push(~line);
        line = isShown && (isAll || isOpen(line)) ? line + 1 : end[line]!;
      }
      return found;
    },
  };

  forest.filter('', '');
  return forest;
}
