// What the program writes into the page: src/render/picture/data.rs says what each column means, and has made every
// text visible.

/** A number for each object, reference or row: mostly a place in `texts`. 0 is none. */
type Columns<Name extends string> = Record<Name, number[]>;

export interface Data {
  title: string;
  source: string;
  /** The view that was asked for. */
  shown: number;
  /** What needs attention most comes first. */
  states: { name: string; symbol: string; word: string; meaning: string }[];
  texts: string[];
  stories: Story[];
  commands: string[][][];
  abouts: [string, string][];
  objects: { name: string[] }
    & Columns<'apiVersion' | 'kind' | 'namespace' | 'created' | 'finalizers' | 'flags' | 'commands'>;
  links: Columns<'dependent' | 'owner' | 'about'>;
  /** One, or one for each propagation policy. */
  views: View[];
}

export interface View {
  name: string;
  verdict?: { fate: number; word: string; sentence: string };
  rows: Columns<'object' | 'parent' | 'title' | 'fate' | 'word' | 'detail' | 'more' | 'flags' | 'story'>;
  sections: Section[];
}

/** What else is known, and the commands that mend it. */
export interface Story {
  sections: Section[];
  commands: string[];
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

export function textOf(column: number[], at: number): string {
  return data.texts[column[at] ?? 0] ?? '';
}

/** `Pod/web-1`, and its namespace if wanted. */
export function titleOf(object: number, withNamespace = false): string {
  const { kind, namespace, name } = data.objects;
  const where = textOf(namespace, object);
  return `${textOf(kind, object)}/${name[object]}${withNamespace && where ? ` -n ${where}` : ''}`;
}

/** The number of a state, by its name. */
export function fateOf(name: string): number {
  return data.states.findIndex((state) => state.name === name);
}

/** Errors, warnings and notes. */
export function isFinding(fate: number): boolean {
  return ['error', 'warning', 'note'].includes(data.states[fate]!.name);
}

/** `12,000`, whatever the reader's language is: the page is in English. */
export function grouped(number: number): string {
  return number.toLocaleString('en');
}
