// What a link keeps: it stands behind the # of the address, so that it works for a file, too.
import { FATES, type Fate } from './picture.ts';

export const TABS = ['tree', 'table'] as const;
export type Tab = (typeof TABS)[number];

export const COLUMNS = ['state', 'kind', 'name', 'namespace', 'detail', 'created'] as const;
export type Column = (typeof COLUMNS)[number];

export interface State {
  /** The name of the policy; empty for the view that was asked for. */
  view: string;
  tab: Tab;
  /** The table stands beside the tree. */
  beside: boolean;
  /** An object as `kind/namespace/name`, or `row-N` for a line without one. */
  at: string;
  search: string;
  fates: ReadonlySet<Fate>;
  kind: string;
  namespace: string | undefined;
  sort: Column | '';
  down: boolean;
}

export const START: State = {
  view: '', tab: 'tree', beside: false, at: '', search: '', fates: new Set(), kind: '', namespace: undefined,
  sort: '', down: false,
};

export function write(state: State): string {
  const parts = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value !== '') parts.set(name, value);
  };
  put('view', state.view);
  put('show', state.tab === 'tree' ? '' : state.tab);
  put('beside', state.beside ? 'table' : '');
  put('at', state.at);
  put('search', state.search);
  put('state', FATES.filter((fate) => state.fates.has(fate)).join(' '));
  put('kind', state.kind);
  if (state.namespace !== undefined) parts.set('namespace', state.namespace);
  put('sort', state.sort && `${state.down ? '-' : ''}${state.sort}`);
  return parts.toString();
}

/** Reads a link. What it doesn't know it leaves out: a link may be cut, or made by hand. */
export function read(hash: string): State {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const get = (name: string): string => parts.get(name) ?? '';
  const sort = get('sort').replace(/^-/, '');
  const fates = get('state').split(' ');
  return {
    view: get('view'),
    tab: TABS.find((tab) => tab === get('show')) ?? 'tree',
    beside: get('beside') === 'table',
    at: get('at'),
    search: get('search'),
    fates: new Set(FATES.filter((fate) => fates.includes(fate))),
    kind: get('kind'),
    namespace: parts.get('namespace') ?? undefined,
    sort: COLUMNS.find((column) => column === sort) ?? '',
    down: get('sort').startsWith('-'),
  };
}
