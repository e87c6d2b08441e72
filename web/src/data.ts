// What the program writes into the page, as src/render/picture/data.rs has it: columns of numbers, and each text once.

/** A number for each object, reference or row: without other words a place in `texts`. 0 is none. */
export type Column = number[];

export interface Data {
  title: string;
  source: string;
  /** The view that was asked for. */
  shown: number;
  /** The states by number, what needs attention most first. */
  states: { name: string; symbol: string; word: string; meaning: string }[];
  texts: string[];
  stories: Story[];
  /** Commands that show an object, cut where its name belongs. */
  commands: string[][][];
  /** What is said of a reference: beside the owner, and beside the dependent. */
  abouts: [string, string][];
  objects: {
    name: string[]; apiVersion: Column; kind: Column; namespace: Column; created: Column; finalizers: Column;
    /** 1: terminating. 2: no object with this uid was read. */
    flags: Column;
    /** A place in `commands`. */
    commands: Column;
  };
  /** Owner references. All three are places, from 0. */
  links: { dependent: Column; owner: Column; about: Column };
  /** One, or one for each propagation policy. */
  views: View[];
}

export interface View {
  name: string;
  verdict?: { fate: number; word: string; sentence: string };
  rows: {
    /** Its place, from 1. */
    object: Column;
    /** How many rows above stands the one that it stands below. */
    parent: Column;
    /** None: the object's own. */
    title: Column;
    /** A place in `states`. */
    fate: Column;
    word: Column;
    detail: Column;
    /** How many objects it stands for, if it shows several. */
    more: Column;
    /** 1: it only says where the row of its object is. 2: its stored data is lost. */
    flags: Column;
    /** A place in `stories`. */
    story: Column;
  };
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

export function textOf(column: Column, at: number): string {
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

/** Errors, warnings and notes are counted. */
export function isFinding(fate: number): boolean {
  return ['error', 'warning', 'note'].includes(data.states[fate]!.name);
}

export function words(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

/** `1 object`, `2 objects`, `12,000 objects`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** `12,000`, whatever the reader's language is: the page is in English. */
export function grouped(number: number): string {
  return number.toLocaleString('en');
}
