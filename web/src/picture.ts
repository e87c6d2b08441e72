// What Rust writes into the page: see src/render/picture/mod.rs.

export interface Picture {
  kind: string;
  title: string;
  source: string;
  objects: KubeObject[];
  links: Link[];
  views: View[];
  shown: number;
  states: StateLook[];
}

/** How a fate looks: src/render/states.rs has the table, what needs attention most first. */
export interface StateLook {
  name: Fate;
  symbol: string;
  word: string;
  meaning: string;
}

/** The name of a state. */
export type Fate = string;

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

/** The names of the states, from what needs attention most to what needs it least. */
export const FATES: Fate[] = [];
const LOOKS = new Map<Fate, StateLook>();

/** How a fate looks. What no table knows has a look of its own. */
export function look(fate: Fate): StateLook {
  return LOOKS.get(fate) ?? { name: fate, symbol: '·', word: fate, meaning: fate };
}

/** Takes the states of a page. */
export function useStates(states: readonly StateLook[]): void {
  FATES.splice(0, FATES.length, ...states.map((state) => state.name));
  LOOKS.clear();
  for (const state of states) LOOKS.set(state.name, state);
}

/** What is said of an object that stands in no line of a view. */
export const OUTSIDE = 'outside';

/** Reads the picture of the page. */
export function readPicture(text: string): Picture {
  const picture = JSON.parse(text) as Picture;
  useStates(picture.states);
  if (picture.views.length === 0) picture.views.push({ name: '', rows: [] });
  return picture;
}
