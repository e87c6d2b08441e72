// What Rust writes into the page: see src/render/picture/mod.rs.

export interface Picture {
  kind: string;
  title: string;
  source: string;
  objects: KubeObject[];
  links: Link[];
  /** One, or one for each propagation policy. */
  views: View[];
  /** The view that was asked for. */
  shown: number;
  states: StateLook[];
}

/** The name of a state. */
export type Fate = string;

/** How a state looks: src/render/states.rs has the table. */
export interface StateLook {
  name: Fate;
  symbol: string;
  word: string;
  meaning: string;
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  created?: string;
  terminating?: boolean;
  finalizers?: string[];
  virtual?: boolean;
  commands?: string[];
}

export interface Link {
  dependent: number;
  owner: number;
  controller?: boolean;
  blocks?: boolean;
  invalid?: string;
  closesCycle?: boolean;
}

export interface View {
  name: string;
  verdict?: { fate: Fate; word: string; sentence: string };
  rows: Row[];
  sections?: Section[];
}

export interface Row {
  object?: number;
  title: string;
  parent?: number;
  fate: Fate;
  word?: string;
  detail?: string;
  /** It only says where the row of its object is. */
  points?: boolean;
  /** Its stored data is lost. */
  loses?: boolean;
  /** How many objects it stands for, if it shows several. */
  more?: number;
  story?: Section[];
  commands?: string[];
}

export interface Section {
  label: string;
  lines: string[];
  /** Those lines that are commands. */
  commands?: string[];
}

/** The states by name, what needs attention most first. */
export const LOOKS = new Map<Fate, StateLook & { rank: number }>();

/** How a state looks. What no table knows has a look of its own. */
export function look(fate: Fate): StateLook & { rank: number } {
  return LOOKS.get(fate) ?? { name: fate, symbol: '·', word: fate, meaning: fate, rank: LOOKS.size };
}

/** Takes the states of a page. */
export function useStates(states: readonly StateLook[]): void {
  LOOKS.clear();
  states.forEach((state, rank) => LOOKS.set(state.name, { ...state, rank }));
}

/** `Pod/web-1`, and its namespace if wanted. */
export function titleOf({ kind, name, namespace }: KubeObject, withNamespace = false): string {
  return `${kind}/${name}${withNamespace && namespace ? ` -n ${namespace}` : ''}`;
}

/** `2026-11-24 18:37:05` of a timestamp of the API server. */
export function moment(time = ''): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, '$1 $2');
}
