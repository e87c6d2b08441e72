// What the reader has chosen. A link keeps it behind the # of the address, so that it works for a file, too.
import { LOOKS } from './picture.ts';

/** The columns of the table. */
export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail', 'created'] as const;

export const START = {
  /** The name of the policy; empty for the view that was asked for. */
  view: '',
  /** `table`; empty for the tree. */
  show: '',
  /** An object as `kind/namespace/name`, or `row-N` for a line without one. */
  at: '',
  search: '',
  /** The names of the states to show; empty for all. */
  state: '',
  kind: '',
  /** `-` for what has none. */
  namespace: '',
  /** A column; `-COLUMN` sorts down; empty for the order of the tree. */
  sort: '',
};
export type State = typeof START;

const FILTERS = ['search', 'state', 'kind', 'namespace'] as const;

export function isFiltered(state: State): boolean {
  return FILTERS.some((name) => state[name].trim() !== '');
}

export function hasSameFilter(a: State, b: State): boolean {
  return FILTERS.every((name) => a[name] === b[name]);
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

export function write(state: State): string {
  return new URLSearchParams(Object.entries(state).filter(([, value]) => value !== '')).toString();
}

/** Reads a link. What it doesn't know it leaves out: a link may be cut, or made by hand. */
export function read(hash: string): State {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const state = { ...START };
  for (const name of Object.keys(START) as (keyof State)[]) state[name] = parts.get(name) ?? '';
  if (state.show !== 'table') state.show = '';
  if (!COLUMNS.some((column) => column === state.sort.replace('-', ''))) state.sort = '';
  state.state = words(state.state).filter((fate) => LOOKS.has(fate)).join(' ');
  return state;
}
