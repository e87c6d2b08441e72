// What another propagation policy changes.
import type { Forest } from './forest.ts';
import { look, OUTSIDE } from './picture.ts';

export interface Difference {
  /** The policy before. */
  from: string;
  /** What became of an object under the policy before, for each object that ends differently. */
  was: Map<number, string>;
  /** How many of them have no line now. */
  outside: number;
}

/** The word of a node, or what says the same where there is none. */
function ending(forest: Forest, object: number): string {
  const row = forest.rowOf(object);
  return row < 0 ? OUTSIDE : forest.word(row) || look(forest.fate(row)).word;
}

/** The objects that end differently in two views. */
export function difference(before: Forest, after: Forest, from: string, objects: number): Difference {
  const was = new Map<number, string>();
  let outside = 0;
  for (let object = 0; object < objects; object++) {
    const old = ending(before, object);
    if (old === ending(after, object)) continue;
    was.set(object, old);
    if (after.rowOf(object) < 0) outside += 1;
  }
  return { from, was, outside };
}
