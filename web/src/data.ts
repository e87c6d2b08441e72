// What the program writes into the page: src/render/picture/data.rs says what each part means, and
// has made every text visible. A column has a number for each object, reference or row: mostly a
// place in `texts`.
type Columns<Name extends string> = Record<Name, number[]>;
type ObjectColumn =
  'apiVersion' | 'kind' | 'namespace' | 'created' | 'finalizers' | 'flags' | 'commands';
type RowColumn = 'object' | 'parent' | 'title' | 'fate' | 'word' | 'detail' | 'flags' | 'story';
type State = { name: string; symbol: string; word: string; meaning: string; tone: string };
export type Section = {
  label: string; lines: string[]; commands?: string[]; objects?: number[][];
};

export interface View {
  name: string;
  verdict?: { fate: number; word: string; sentence: string };
  reasons: string;
  rows: Columns<RowColumn>;
  waits: [number, number][];
  numbers: number[];
  lost: number;
  facts: Section[];
  notes: Section[];
}

export interface Data {
  kind: string;
  title: string;
  source: string;
  program: string;
  shown: number;
  off: string;
  /** What needs attention most comes first. */
  states: State[];
  texts: string[];
  stories: Section[][];
  commands: string[][][];
  abouts: string[];
  objects: { name: string[] } & Columns<ObjectColumn>;
  links: Columns<'dependent' | 'owner' | 'about'>;
  views: View[];
}

/** The picture of this page. */
export let data: Data;
/** How a link names each object, so that it fits tomorrow's page; a second one by its number. */
export const places = new Map<string, number>();
export let placeOf: string[];

export function use(picture: Data): void {
  data = picture;
  const { kind, namespace, name } = data.objects;
  name.forEach((name, at) => {
    const place = `${textOf(kind, at).toLowerCase()}/${textOf(namespace, at)}/${name}`;
    places.set(places.has(place) ? `object-${at}` : place, at);
  });
  placeOf = [...places.keys()];
}

export const textOf = (column: number[], at: number): string => data.texts[column[at] ?? 0] ?? '';

/** `Pod/web-1`. */
export const titleOf = (own: number): string =>
  `${textOf(data.objects.kind, own)}/${data.objects.name[own]}`;

/** `12,000`, whatever the reader's language is: the page is in English. */
export const grouped = (number: number): string => number.toLocaleString('en');
