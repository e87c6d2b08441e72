// The rows of a view as lines. All below a line comes right after it: so nothing recurses, and
// chains of owners may be very long. A line that stands for similar siblings has the number of the
// first of them with all bits turned (~).
import { data, grouped, textOf, titleOf, type View } from './data.ts';

/** More similar siblings than this are folded, but for the first ones. */
const FOLD_OVER = 12;
const SHOWN = 3;
/** A larger forest is open only where something needs attention. */
const WHOLE = 1500;

/** The columns of the table. The tree has one for the object, instead. */
export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail'] as const;
export type Forest = ReturnType<typeof forestOf>;

/** What is closed is so in all views: objects by their place, and other lines by one below 0. */
export function forestOf(view: View, closed: Set<number>) {
  const { object, fate, word, detail, flags, title } = view.rows;
  const { objects, states } = data;
  const all = [...fate.keys()];
  const parent = Int32Array.from(view.rows.parent, (above, line) => (above ? line - above : -1));
  /** How many lines it stands below, from 1. */
  const level = new Int32Array(all.length);
  /** The first line that is not below it. */
  const end = Int32Array.from(all, (line) => line + 1);
  /** The worst state of it and of all below it. */
  const worst = Int32Array.from(fate);
  /** The line of an object; -1 if it is outside of the view. */
  const lineOf = new Int32Array(objects.name.length).fill(-1);
  /** The similar siblings that a line is folded with. */
  const folds: (number[] | undefined)[] = [];
  /** 2: it is found. 1: something below it is. */
  const shown = new Uint8Array(all.length);
  const texts: string[] = [];
  /** The first state that needs no attention. */
  const calm = states.findIndex(({ tone }) => tone === 'later');
  let isSearch = false;

  const key = (line: number): number => object[line] || -1 - line;
  const pointsElsewhere = (line: number): boolean => (flags[line]! & 1) > 0;
  const loses = (line: number): boolean => (flags[line]! & 2) > 0;
  const unfold = (line: number): void => folds[line]?.forEach((at) => delete folds[at]);
  const findings = all.filter((line) => !object[line] && states[fate[line]!]!.symbol === '▲');
  for (const line of all) level[line] = (level[parent[line]!] ?? 0) + 1;
  // Places that are none, like that above a root, are left alone.
  for (const line of all.toReversed()) {
    const [up, own] = [parent[line]!, object[line]! - 1];
    end[up] = Math.max(end[up]!, end[line]!);
    worst[up] = Math.min(worst[up]!, worst[line]!);
    if (!pointsElsewhere(line) || lineOf[own] === -1) lineOf[own] = line;
  }
  const alike = new Map<string, number[]>();
  for (const line of all.filter((line) => object[line] && end[line] === line + 1)) {
    const said = `${fate[line]} ${flags[line]} ${word[line]} ${detail[line]}`;
    const what = `${parent[line]} ${objects.kind[object[line]! - 1]} ${said}`;
    if (!alike.get(what)?.push(line)) alike.set(what, [line]);
  }
  for (const lines of alike.values()) {
    const folded = lines.length > FOLD_OVER ? lines.slice(SHOWN) : [];
    for (const line of folded) folds[line] = folded;
  }
  if (all.length > WHOLE && view === data.views[data.shown]) {
    worst.forEach((worst, line) => worst >= calm && closed.add(key(line)));
  }

  const forest = {
    view, parent, level, end, worst, calm, lineOf, shown, findings, loses,
    size: all.length,
    /** How many rows are found. */
    found: all.length,
    row: (line: number): number => (line < 0 ? ~line : line),
    /** Whether it is open; undefined if nothing is below it. */
    isOpen: (line: number): boolean | undefined => line < 0 ? false
      : end[line]! > line + 1 ? isSearch || !closed.has(key(line)) : undefined,

    /** What is said of a line: in its columns, and what else a search finds. */
    said(line: number) {
      const at = forest.row(line);
      const own = object[at]! - 1;
      const kind = textOf(objects.kind, own);
      return {
        object: line < 0 ? `${grouped(folds[at]!.length)} more like this: ${kind}`
          : textOf(title, at) || titleOf(own),
        state: textOf(word, at),
        kind,
        name: objects.name[own] ?? textOf(title, at),
        namespace: textOf(objects.namespace, own),
        detail: line < 0 ? '' : textOf(detail, at),
        apiVersion: textOf(objects.apiVersion, own),
        finalizers: textOf(objects.finalizers, own),
      };
    },

    toggle(line: number): void {
      if (line < 0) unfold(~line);
      else if (!closed.delete(key(line))) closed.add(key(line));
    },

    /** Opens what a line stands below. */
    reveal(line: number): void {
      unfold(line);
      for (let at = parent[line]!; at >= 0; at = parent[at]!) closed.delete(key(at));
    },

    /** Finds what has all these words, in any case, and none of these states. */
    filter(search: string, off: string): void {
      const words = search.toLowerCase().match(/\S+/g) ?? [];
      const isOff = states.map(({ name }) => off.split(' ').includes(name));
      const textIn = (line: number): string =>
        texts[line] ??= Object.values(forest.said(line)).join('\n').toLowerCase();
      isSearch = words.length > 0;
      forest.found = 0;
      shown.fill(0);
      for (const line of all.toReversed()) {
        if (!isOff[fate[line]!] && words.every((word) => textIn(line).includes(word))) {
          shown[line] = 2;
          forest.found++;
        }
        if (shown[line]) shown[parent[line]!] ||= 1;
      }
    },

    /** The lines to show now, or all that the filter leaves. A search shows all that it finds. */
    visible(isAll = false): number[] {
      const lines = new Set<number>();
      for (let line = 0; line < all.length;) {
        const fold = isAll || isSearch ? undefined : folds[line];
        if (shown[line]) lines.add(fold ? ~fold[0]! : line);
        line = shown[line] && (isAll || forest.isOpen(line)) ? line + 1 : end[line]!;
      }
      return [...lines];
    },

    /** The lines of the table: each object that is found once, sorted by a column, or `-COLUMN`. */
    table(sort: string): number[] {
      const once = all.filter((line) =>
        shown[line] === 2 && (lineOf[object[line]! - 1] ?? line) === line);
      const column = COLUMNS.find((column) => column === sort.replace('-', ''));
      if (!column) return once;
      // Of states, what needs attention most is the first: a letter for each.
      const keys = all.map((line) => column === 'state' ? String.fromCharCode(65 + fate[line]!)
        : forest.said(line)[column]);
      const sign = sort.startsWith('-') ? -1 : 1;
      // What has no value comes last in both directions.
      return once.sort((a, b) => Number(!keys[a]) - Number(!keys[b]) ||
        (keys[a] === keys[b] ? 0 : keys[a]! < keys[b]! ? -sign : sign));
    },

    /** The next line after one that is stuck or loses data. */
    nextWorst(line: number): number | undefined {
      const bad = all.filter((at) =>
        shown[at] === 2 && (states[fate[at]!]!.tone === 'error' || loses(at)));
      return bad.find((at) => at > line) ?? bad[0];
    },
  };
  return forest;
}
