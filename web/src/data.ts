// What the program writes into the page: src/render/picture/data.rs says what each column means,
// and has made every text visible.

/** A number for each object, reference or row: mostly a place in `texts`. 0 is none. */
type Columns<Name extends string> = Record<Name, number[]>;
type ObjectColumn =
  'apiVersion' | 'kind' | 'namespace' | 'created' | 'finalizers' | 'flags' | 'commands';
type RowColumn = 'object' | 'parent' | 'title' | 'fate' | 'word' | 'detail' | 'flags' | 'story';

export interface Data {
  kind: string;
  title: string;
  source: string;
  program: string;
  /** The view that was asked for. */
  shown: number;
  /** What needs attention most comes first. */
  states: { name: string; symbol: string; word: string; meaning: string }[];
  texts: string[];
  stories: Section[][];
  commands: string[][][];
  abouts: string[];
  objects: { name: string[] } & Columns<ObjectColumn>;
  links: Columns<'dependent' | 'owner' | 'about'>;
  /** One, or one for each propagation policy. */
  views: View[];
}

export interface View {
  name: string;
  verdict?: { fate: number; word: string; sentence: string };
  /** The verdict in full. */
  reasons: string;
  rows: Columns<RowColumn>;
  /** Objects, each with one that it waits for. */
  waits: [number, number][];
  /** What stands in the place of the section `Then`. */
  facts: Section[];
  sections: Section[];
}

export interface Section {
  label: string;
  lines: string[];
  /** Those lines that are commands. */
  commands?: string[];
}

/** The picture of this page. */
export let data: Data;

export function use(picture: Data): void {
  data = picture;
}

/** Whether it is said of all objects what becomes of them. */
export function isChange(): boolean {
  return ['Plan', 'Sweep', 'Deletion'].includes(data.kind);
}

export function textOf(column: number[], at: number): string {
  return data.texts[column[at] ?? 0] ?? '';
}

/** `Pod/web-1`. */
export function titleOf(object: number): string {
  return `${textOf(data.objects.kind, object)}/${data.objects.name[object]}`;
}

/** The number of a state, by its name. */
export function fateOf(name: string): number {
  return data.states.findIndex((state) => state.name === name);
}

/** `12,000`, whatever the reader's language is: the page is in English. */
export function grouped(number: number): string {
  return number.toLocaleString('en');
}
