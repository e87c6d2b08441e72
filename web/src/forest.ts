// The rows of a view as lines. All below a line comes right after it: so nothing recurses, and
// chains of owners may be very long. A line that stands for similar siblings has the number of the
// first of them with all bits turned (~).
import { data, fateOf, grouped, isChange, textOf, titleOf, type View } from './data.ts';

/** More similar siblings than this are folded, but for the first ones. */
const FOLD_OVER = 12;
const SHOWN = 3;
/** A larger forest is open only where something needs attention. */
const WHOLE = 1500;

/** The columns of the table. The tree has one for the object, instead. */
export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail'] as const;
export type Column = 'object' | (typeof COLUMNS)[number];
export type Forest = ReturnType<typeof forestOf>;

/** What is closed is so in all views: objects by their place, and other lines by one below 0. */
export function forestOf(view: View, closed: Set<number>) {
  const { object, fate, word, detail, flags, title } = view.rows;
  const { objects, states } = data;
  const size = fate.length;
  const parent = Int32Array.from(view.rows.parent, (above, line) => (above ? line - above : -1));
  /** How many lines it stands below, from 1. */
  const level = new Int32Array(size).fill(1);
  /** The first line that is not below it. */
  const end = Int32Array.from(fate, (_, line) => line + 1);
  /** The worst state of it and of all below it. */
  const worst = Int32Array.from(fate);
  /** The line of an object; -1 if it is outside of the view. */
  const lineOf = new Int32Array(objects.name.length).fill(-1);
  /** The similar siblings that a line is folded with. */
  const folds: number[][] = [];
  /** Those folds that are open, by their first line. */
  const open = new Set<number>();
  /** How many objects end in each state. Findings count as in the verdict: without objects. */
  const numbers = states.map(() => 0);
  /** 2: it is found. 1: something below it is. */
  const shown = new Uint8Array(size);
  const texts: string[] = [];
  let isSearch = false;

  const key = (line: number): number => object[line] || -1 - line;
  const pointsElsewhere = (line: number): boolean => (flags[line]! & 1) > 0;
  // Places that are none, like that above a root, are left alone.
  for (let line = size - 1; line >= 0; line--) {
    const up = parent[line]!;
    end[up] = Math.max(end[up]!, end[line]!);
    worst[up] = Math.min(worst[up]!, worst[line]!);
    const own = object[line]! - 1;
    if (!pointsElsewhere(line) || lineOf[own] === -1) lineOf[own] = line;
  }
  const kinds = ['error', 'warning', 'note'].map(fateOf);
  const [unsure, later] = [fateOf('unsure'), fateOf('later')];
  const findings = [...fate.keys()].filter((at) => !object[at] && kinds.includes(fate[at]!));
  const found = new Set(findings.map((line) => fate[line]!));
  const waiting = new Set(view.waits.map(([object]) => object));
  const alike = new Map<string, number[]>();
  for (let line = 0; line < size; line++) {
    const [up, at, own] = [parent[line]!, fate[line]!, object[line]!];
    level[line] = (level[up] ?? 0) + 1;
    if (!pointsElsewhere(line) && !(own && found.has(at))) numbers[at]!++;
    if (!own || end[line]! > line + 1) continue;
    const what = `${up} ${objects.kind[own - 1]} ${at} ${flags[line]}`;
    const same = `${what} ${word[line]} ${detail[line]}`;
    if (!alike.get(same)?.push(line)) alike.set(same, [line]);
  }
  for (const lines of alike.values()) {
    const folded = lines.length > FOLD_OVER ? lines.slice(SHOWN) : [];
    for (const line of folded) folds[line] = folded;
  }

  if (size > WHOLE && view === data.views[data.shown]) {
    worst.forEach((worst, line) => worst >= later && closed.add(key(line)));
  }
  const holds = (line: number): boolean => fate[line]! < unsure && !waiting.has(object[line]! - 1);

  const forest = {
    view, size, parent, level, end, worst, lineOf, shown, numbers, findings,
    /** How many rows lose data. */
    lost: flags.filter((flags) => flags & 2).length,
    /** What holds things up: objects that don't go, and wait for no other. */
    culprits: isChange() ? [...fate.keys()].filter(holds) : [],
    /** How many rows are found. */
    found: size,
    row: (line: number): number => (line < 0 ? ~line : line),
    loses: (line: number): boolean => (flags[line]! & 2) > 0,
    /** Whether it is open; undefined if nothing is below it. */
    isOpen(line: number): boolean | undefined {
      if (line < 0) return false;
      return end[line]! > line + 1 ? isSearch || !closed.has(key(line)) : undefined;
    },

    /** The text in a column. */
    cell(line: number, column: Column): string {
      const at = forest.row(line);
      const own = object[at]! - 1;
      switch (column) {
        case 'object':
          if (line >= 0) return textOf(title, at) || titleOf(own);
          return `${grouped(folds[at]!.length)} more like this: ${textOf(objects.kind, own)}`;
        case 'state': {
          const { name, word: usual } = states[fate[at]!]!;
          return textOf(word, at) || (name === 'untouched' ? '' : usual);
        }
        case 'detail': return line < 0 ? '' : textOf(detail, at);
        case 'name': return objects.name[own] ?? textOf(title, at);
        default: return textOf(objects[column], own);
      }
    },

    toggle(line: number): void {
      if (line < 0) open.add(~line);
      else if (!closed.delete(key(line))) closed.add(key(line));
    },

    /** Opens what a line stands below. */
    reveal(line: number): void {
      for (let at = line; at >= 0; at = parent[at]!) {
        if (at !== line) closed.delete(key(at));
        open.add(folds[at]?.[0] ?? -1);
      }
    },

    /** Finds what has all these words, in any case, and none of these states. */
    filter(search: string, off: string): void {
      const words = search.toLowerCase().match(/\S+/g) ?? [];
      const isOff = states.map(({ name }) => off.split(' ').includes(name));
      const textIn = (line: number): string => texts[line] ??= [
        forest.cell(line, 'object'), ...COLUMNS.map((column) => forest.cell(line, column)),
        ...[objects.apiVersion, objects.finalizers].map((of) => textOf(of, object[line]! - 1)),
      ].join('\n').toLowerCase();
      isSearch = words.length > 0;
      forest.found = 0;
      shown.fill(0);
      for (let line = size - 1; line >= 0; line--) {
        const isFound = !isOff[fate[line]!]
          && (!isSearch || words.every((word) => textIn(line).includes(word)));
        if (isFound) shown[line] = 2;
        forest.found += Number(isFound);
        if (shown[line]) shown[parent[line]!] ||= 1;
      }
    },

    /** The lines to show now, or all that the filter leaves. A search shows all that it finds. */
    visible(isAll = false): number[] {
      const lines: number[] = [];
      for (let line = 0; line < size;) {
        const first = isAll || isSearch ? undefined : folds[line]?.[0];
        const isFolded = first !== undefined && !open.has(first);
        if (shown[line] && !isFolded) lines.push(line);
        else if (shown[line] && first === line) lines.push(~line);
        const isWalked = shown[line] && !isFolded && (isAll || forest.isOpen(line));
        line = isWalked ? line + 1 : end[line]!;
      }
      return lines;
    },
  };
  return forest;
}
