// The owner references of each object.
import type { Picture } from './picture.ts';

export class Relations {
  readonly #owners: Lists;
  readonly #dependents: Lists;

  constructor(picture: Picture) {
    const size = picture.objects.length;
    this.#owners = new Lists(size, picture.links.map((link) => link.dependent));
    this.#dependents = new Lists(size, picture.links.map((link) => link.owner));
  }

  /** The links from an object to its owners, as places in the picture's list. */
  owners(object: number): Int32Array {
    return this.#owners.of(object);
  }

  /** The links to an object. */
  dependents(object: number): Int32Array {
    return this.#dependents.of(object);
  }
}

/** Lists of links by object, in two arrays. */
class Lists {
  readonly #starts: Int32Array;
  readonly #links: Int32Array;

  constructor(size: number, objects: number[]) {
    this.#starts = new Int32Array(size + 1);
    for (const object of objects) this.#starts[object + 1]!++;
    for (let at = 1; at <= size; at++) this.#starts[at]! += this.#starts[at - 1]!;
    const next = this.#starts.slice();
    this.#links = new Int32Array(objects.length);
    objects.forEach((object, link) => {
      this.#links[next[object]!++] = link;
    });
  }

  of(object: number): Int32Array {
    return this.#links.subarray(this.#starts[object] ?? 0, this.#starts[object + 1] ?? 0);
  }
}
