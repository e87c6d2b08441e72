// A picture as objects, which tests can read, and its columns, as src/render/picture/data.rs makes them.
import type { Data, Section } from '../src/data.ts';

export interface Picture {
  kind: string;
  title: string;
  source: string;
  objects: KubeObject[];
  links: Link[];
  views: View[];
  shown: number;
  states: Data['states'];
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
  reasons?: string;
  rows: Row[];
  waits?: [number, number][];
  facts?: Section[];
  sections?: Section[];
}

export interface Row {
  object?: number;
  title: string;
  parent?: number;
  fate: Fate;
  word?: string;
  detail?: string;
  points?: boolean;
  loses?: boolean;
  more?: number;
  story?: Section[];
}

/** Values by number, each once; the first is none. */
function once<T>(none: T): { values: T[]; place(value: T): number } {
  const places = new Map([[JSON.stringify(none), 0]]);
  const values = [none];
  return {
    values,
    place(value) {
      const key = JSON.stringify(value);
      if (!places.has(key)) places.set(key, values.push(value) - 1);
      return places.get(key)!;
    },
  };
}

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const SHORT: Record<string, string> = { '\0': '0', '\t': 't', '\n': 'n', '\r': 'r' };

/** The text with every character that is not printed escaped as in Rust: `\n`, `\u{1b}`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => `\\${SHORT[c] ?? `u{${c.codePointAt(0)!.toString(16)}}`}`);
}

const isChange = (kind: string): boolean => ['Plan', 'Sweep', 'Deletion'].includes(kind);

/** What is told of a view as a whole. */
function told(kind: string, rows: Row[], states: Picture['states'], waits: [number, number][], facts: Section[],
  sections: Section[]): Pick<Data['views'][number], 'numbers' | 'lost' | 'facts' | 'notes'> {
  const fateOf = (name: Fate): number => states.findIndex((state) => state.name === name);
  const found = new Set(rows.filter(({ object, fate }) => object === undefined && states[fateOf(fate)]!.symbol === '▲')
    .map(({ fate }) => fate));
  const counted = rows.filter(({ object, points, fate }) => !points && !(object !== undefined && found.has(fate)));
  const by = (label: string): Section[] => sections.filter((section) => section.label === label);
  const waiting = new Set(waits.map(([object]) => object));
  const culprits = rows.filter(({ object, more, fate }) =>
    object !== undefined && !more && fateOf(fate) < fateOf('unsure') && !waiting.has(object));
  const reasons = new Map<string, number[]>();
  for (const { object, detail = '' } of culprits) reasons.set(detail, [...reasons.get(detail) ?? [], object!]);
  const isSaid = !isChange(kind) || reasons.size === 0 || facts.some(({ label }) => label === 'Left Terminating');
  const holds = {
    label: 'What holds it up', lines: [...reasons.keys()].map((reason) => reason && `: ${reason}`),
    objects: [...reasons.values()],
  };
  return {
    numbers: states.map(({ name }) => counted.filter(({ fate }) => fate === name).length),
    lost: rows.filter(({ loses }) => loses).length, notes: by('Note'),
    facts: [...by('Lost'), ...isSaid ? [] : [holds], ...by('Why'), ...facts.length ? facts : by('Then'), ...by('Next')],
  };
}

export function columns(picture: Picture): Data {
  const { kind, title, source, shown, states, objects, links, views }: Picture = JSON.parse(
    JSON.stringify(picture, (_, value) => (typeof value === 'string' ? visible(value) : value)));
  const texts = once('');
  const stories = once<Section[]>([]);
  const commands = once<string[][]>([]);
  const abouts = once('');
  const text = (value = ''): number => texts.place(value);
  const fate = (name: string): number => states.findIndex((state) => state.name === name);
  const about = ({ controller, blocks, invalid, closesCycle }: Link): string =>
    [controller && 'its controller', blocks && 'blocking', invalid, closesCycle && 'closes a cycle'].filter(Boolean).join(', ');
  return {
    kind, title, source, program: 'kubectl gc 1.2.3', shown, off: isChange(kind) ? 'untouched' : '', states,
    objects: {
      name: objects.map(({ name }) => name),
      apiVersion: objects.map(({ apiVersion }) => text(apiVersion)),
      kind: objects.map(({ kind }) => text(kind)),
      namespace: objects.map(({ namespace }) => text(namespace)),
      created: objects.map(({ created = '' }) => text(created.replace('T', ' ').replace('Z', ''))),
      finalizers: objects.map(({ finalizers = [] }) => text(finalizers.join(', '))),
      flags: objects.map(({ terminating, virtual }) => Number(terminating ?? false) + 2 * Number(virtual ?? false)),
      commands: objects.map((object) => commands.place((object.commands ?? []).map((text) => text.split(object.name)))),
    },
    links: {
      dependent: links.map(({ dependent }) => dependent), owner: links.map(({ owner }) => owner),
      about: links.map((link) => abouts.place(about(link))),
    },
    views: views.map(({ name, verdict, reasons = '', rows, waits = [], facts = [], sections = [] }) => ({
      name, reasons, waits, ...told(kind, rows, states, waits, facts, sections), ...(verdict && { verdict: { ...verdict, fate: fate(verdict.fate) } }),
      rows: {
        object: rows.map(({ object = -1, more }) => (more ? 0 : object + 1)),
        parent: rows.map(({ parent }, at) => (parent === undefined ? 0 : at - parent)),
        title: rows.map(({ object, title, more }) => {
          const { kind, name } = objects[object ?? -1] ?? {};
          return `${kind}/${name}` === title && !more ? 0 : text(title);
        }),
        fate: rows.map((row) => fate(row.fate)),
        word: rows.map(({ word, fate }) => text(word || (fate === 'untouched' ? '' : states.find(({ name }) => name === fate)!.word))),
        detail: rows.map(({ detail }) => text(detail)),
        flags: rows.map(({ points, loses }) => Number(points ?? false) + 2 * Number(loses ?? false)),
        story: rows.map(({ story = [] }) => stories.place(story)),
      },
    })),
    texts: texts.values, stories: stories.values, commands: commands.values, abouts: abouts.values,
  };
}
