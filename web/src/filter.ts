// What the reader looks for.
import type { Fate, Picture, Row } from './picture.ts';

export interface Filter {
  search: string;
  fates: ReadonlySet<Fate>;
  kind: string;
  /** `undefined`: all; empty: without a namespace. */
  namespace: string | undefined;
}

export function isActive(filter: Filter): boolean {
  return filter.search.trim() !== '' || filter.fates.size > 0 || filter.kind !== '' || filter.namespace !== undefined;
}

/** Searches the rows of a picture. Every word of a search must occur, in any case and anywhere. */
export class Searcher {
  readonly #picture: Picture;
  /** What is searched of each row of a view; made when it is first wanted. */
  readonly #texts = new Map<readonly Row[], string[]>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  /** Says of the rows of a view, by their places, whether they match. */
  matcher(filter: Filter, rows: readonly Row[]): (place: number) => boolean {
    const words = filter.search.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const { fates, kind, namespace } = filter;
    const texts = this.#textsOf(rows);
    return (place) => {
      const row = rows[place]!;
      if (fates.size > 0 && !fates.has(row.fate)) return false;
      if (kind !== '' || namespace !== undefined) {
        const object = row.object === undefined ? undefined : this.#picture.objects[row.object];
        if (!object || (kind !== '' && object.kind !== kind)) return false;
        if (namespace !== undefined && (object.namespace ?? '') !== namespace) return false;
      }
      if (words.length === 0) return true;
      const text = (texts[place] ??= this.#text(row));
      return words.every((word) => text.includes(word));
    };
  }

  #textsOf(rows: readonly Row[]): string[] {
    const texts = this.#texts.get(rows) ?? [];
    this.#texts.set(rows, texts);
    return texts;
  }

  #text(row: Row): string {
    const object = row.object === undefined ? undefined : this.#picture.objects[row.object];
    const about = object
      ? [object.kind, object.name, object.namespace ?? '', object.apiVersion, ...(object.finalizers ?? [])]
      : [];
    return [row.title, row.word ?? '', row.detail ?? '', ...about].join('\n').toLowerCase();
  }
}
