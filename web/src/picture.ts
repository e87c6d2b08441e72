// What Rust writes into the page: see src/render/picture/mod.rs.

export interface Picture {
  kind: string;
  title: string;
  source: string;
  objects: KubeObject[];
  links: Link[];
  views: View[];
  shown: number;
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
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
  more?: number;
  story?: Section[];
  commands?: string[];
}

export interface Section {
  label: string;
  lines: string[];
}

/** From what needs attention most to what needs it least. */
export const FATES = [
  'error', 'stuck', 'warning', 'unsure', 'waits', 'note', 'deleted', 'kept', 'absent', 'stays',
] as const;
export type Fate = (typeof FATES)[number];

/** What a fate is called where the picture has no word of its own. */
export const FATE_WORDS: Record<Fate, string> = {
  error: 'error', stuck: 'stuck', warning: 'warning', unsure: 'not certain', waits: 'waits', note: 'note',
  deleted: 'deleted', kept: 'kept', absent: 'absent', stays: 'no remark',
};

/** What a legend says of a fate: the words of the other formats that draw. */
export const FATE_MEANINGS: Record<Fate, string> = {
  error: 'error', stuck: 'Terminating, and no controller is known to finish it', warning: 'warning',
  unsure: 'not certain', waits: 'Terminating until something else is done', note: 'note', deleted: 'deleted',
  kept: 'kept, with changed owner references', absent: 'no object has this uid',
  stays: 'nothing is said to happen to it',
};

/** What is said of an object that stands in no line of a view. */
export const OUTSIDE = 'outside';

/** Reads the picture of the page. */
export function readPicture(text: string): Picture {
  const picture = JSON.parse(text) as Picture;
  if (picture.views.length === 0) picture.views.push({ name: '', rows: [] });
  return picture;
}
