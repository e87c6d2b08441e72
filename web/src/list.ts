// A list of any length: only the lines that are in sight are in the document. Lines have one height, so that places
// are a multiplication; the keyboard moves an active line, which screen readers follow.
import { h } from './dom.ts';
import type { Line } from './forest.ts';

/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Browsers have no taller elements: Firefox ends at 17.8 million pixels. */
const TALLEST = 16_000_000;

export interface ListOptions {
  render(line: Line): HTMLElement;
  /** A click, Enter or space on a line. */
  choose(line: Line, target: Element): void;
  /** Another key; `true` if it did something. */
  key(line: Line, key: string): boolean;
}

export class List {
  readonly element = h('div', { class: 'list', tabindex: 0 });
  readonly #headers = h('div', { class: 'headers', role: 'rowgroup' });
  readonly #rows = h('div', { class: 'lines', role: 'rowgroup' });
  readonly #options: ListOptions;
  #lines: Line[] = [];
  #active = 0;
  #drawn = '';

  constructor(options: ListOptions) {
    this.#options = options;
    this.element.append(this.#headers, this.#rows);
    this.element.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#rows.addEventListener('click', ({ target }) => {
      const place = (target as Element).closest<HTMLElement>('[role=row]')?.dataset['place'];
      if (place === undefined) return;
      this.activate(Number(place));
      this.#options.choose(this.active!, target as Element);
    });
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  get active(): Line | undefined {
    return this.#lines[this.#active];
  }

  /** Shows other lines. The active one stays, or what it stands below. */
  show(lines: Line[], header: HTMLElement, active = this.active): void {
    lines.forEach((line, place) => (line.place = place));
    while (active && lines[active.place] !== active) active = active.parent;
    this.#lines = lines;
    this.#active = active?.place ?? 0;
    this.#headers.replaceChildren(header);
    this.element.setAttribute('aria-rowcount', String(lines.length + 1));
    this.#drawn = '';
    this.#draw();
  }

  /** Makes a line the active one, and brings it into sight: into the middle if it is far away. */
  activate(place: number): void {
    const isFar = Math.abs(place - this.#active) > 1;
    this.#active = Math.max(0, Math.min(place, this.#lines.length - 1));
    const { height, distance, room } = this.#measures();
    const top = this.#active * distance;
    const above = top - this.element.scrollTop;
    if (above < 0 || above + height > room) {
      this.element.scrollTop = isFar ? top - room / 2 : above < 0 ? top : top + height - room;
    }
    this.#drawn = '';
    this.#draw();
  }

  /** The height of a line, the distance of two (less if the list would be too tall), and the room for lines. */
  #measures(): { height: number; distance: number; room: number } {
    const height = parseFloat(getComputedStyle(this.element).getPropertyValue('--line'));
    const distance = Math.min(height, TALLEST / Math.max(1, this.#lines.length));
    return { height, distance, room: this.element.clientHeight - this.#rows.offsetTop };
  }

  #draw(): void {
    const { height, distance, room } = this.#measures();
    const fits = Math.ceil(room / height) + 2 * MARGIN;
    const first = Math.floor(this.element.scrollTop / distance) - MARGIN;
    const from = Math.max(0, Math.min(first, this.#lines.length - fits));
    const to = Math.min(this.#lines.length, from + fits);
    const drawn = `${from} ${to} ${height}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#rows.style.height = `${this.#lines.length * distance}px`;
    const places = Array.from({ length: to - from }, (_, at) => from + at);
    // The active line stays in the document, in order, for screen readers.
    if (this.#active < from) places.unshift(this.#active);
    else if (this.#active >= to && this.active) places.push(this.#active);
    this.#rows.replaceChildren(...places.map((place) => {
      const row = this.#options.render(this.#lines[place]!);
      row.id = `line-${place}`;
      row.dataset['place'] = String(place);
      row.setAttribute('aria-rowindex', String(place + 2));
      row.classList.toggle('active', place === this.#active);
      // Lines of a list that is too tall stand below the first one, not on top of each other.
      row.style.top = `${place < from || place >= to ? place * distance : from * distance + (place - from) * height}px`;
      return row;
    }));
    if (this.active) this.element.setAttribute('aria-activedescendant', `line-${this.#active}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  #key(event: KeyboardEvent): void {
    const { active } = this;
    // The headers hold buttons of their own.
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey || !active) return;
    const { height, room } = this.#measures();
    const page = Math.max(1, Math.floor(room / height) - 1);
    const at = this.#active;
    const moves: Record<string, number> = {
      ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: this.#lines.length,
    };
    const to = moves[event.key];
    if (to !== undefined) this.activate(to);
    else if (event.key === 'Enter' || event.key === ' ') this.#options.choose(active, this.element);
    else if (!this.#options.key(active, event.key)) return;
    event.preventDefault();
  }
}
