// A list of any length: only the lines that are in sight are in the document. Lines have one height, so that places
// are a multiplication; the keyboard moves an active line, which screen readers follow.
import { fill, h } from './dom.ts';

/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Browsers have no taller elements: Firefox ends at 17.8 million pixels. */
const TALLEST = 16_000_000;

export interface ListOptions {
  id: string;
  role: 'treegrid' | 'grid';
  label: string;
  columns: number;
  /** The line with the column headers. */
  header: HTMLElement;
  /** A line; `list` adds its place. */
  render(index: number): HTMLElement;
  /** A click, Enter or space on a line. */
  choose(index: number, event: Event): void;
  /** Another key; `true` if it did something. */
  key?(index: number, event: KeyboardEvent): boolean;
}

export class List {
  readonly element: HTMLElement;
  readonly #rows = h('div', { class: 'lines', role: 'rowgroup' });
  readonly #options: ListOptions;
  readonly #live = new Map<number, HTMLElement>();
  #count = 0;
  #active = 0;
  #height = 26;
  #isScheduled = false;

  constructor(options: ListOptions) {
    this.#options = options;
    this.element = h('div', {
      id: options.id, class: 'list', role: options.role, 'aria-label': options.label, 'aria-colcount': options.columns,
      tabindex: 0,
    });
    this.element.append(h('div', { role: 'rowgroup', class: 'headers' }, options.header), this.#rows);
    this.element.addEventListener('scroll', () => this.#schedule(), { passive: true });
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#rows.addEventListener('click', (event) => {
      const line = (event.target as Element).closest<HTMLElement>('[data-index]');
      if (!line) return;
      this.#setActive(Number(line.dataset['index']));
      options.choose(this.#active, event);
    });
    new ResizeObserver(() => this.#schedule()).observe(this.element);
  }

  get active(): number {
    return this.#active;
  }

  /** How many lines there are now, and which is the active one; draws them again. */
  update(count: number, active = this.#active): void {
    this.#count = count;
    this.#active = Math.max(0, Math.min(active, count - 1));
    this.element.setAttribute('aria-rowcount', String(count + 1));
    this.refresh();
  }

  /** Draws the lines in sight again. */
  refresh(): void {
    this.#height = parseFloat(getComputedStyle(this.element).getPropertyValue('--line')) || 26;
    this.#rows.style.height = `${Math.min(this.#count * this.#height, TALLEST)}px`;
    this.#live.clear();
    fill(this.#rows);
    this.#draw();
  }

  /** Makes a line the active one, and brings it into sight. */
  activate(index: number): void {
    if (index < 0 || index >= this.#count) return;
    this.#setActive(index);
    const header = this.#rows.offsetTop;
    const top = index * this.#scale;
    const room = this.element.clientHeight - header;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.#height > this.element.scrollTop + room) {
      this.element.scrollTop = top + this.#height - room;
    }
    this.#draw();
  }

  /** Brings a line into the middle, if it is out of sight. */
  reveal(index: number): void {
    const top = index * this.#scale;
    const room = this.element.clientHeight - this.#rows.offsetTop;
    const isSeen = top >= this.element.scrollTop && top + this.#height <= this.element.scrollTop + room;
    if (!isSeen) this.element.scrollTop = Math.max(0, top - room / 2);
    this.activate(index);
  }

  /** The distance of two lines: less than their height only if the list would be taller than browsers allow. */
  get #scale(): number {
    return this.#count * this.#height > TALLEST ? TALLEST / this.#count : this.#height;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#draw();
    });
  }

  #draw(): void {
    const first = Math.floor(this.element.scrollTop / this.#scale) - MARGIN;
    const room = Math.ceil(this.element.clientHeight / this.#height) + 2 * MARGIN;
    const from = Math.max(0, Math.min(first, this.#count - room));
    const to = Math.min(this.#count, from + room);
    // Lines of a list that is too tall are drawn at their distance from the first one, not on top of each other.
    const origin = Math.round(from * this.#scale);
    for (const [index, line] of this.#live) {
      if ((index >= from && index < to) || index === this.#active) continue;
      line.remove();
      this.#live.delete(index);
    }
    const put = (index: number): void => {
      let line = this.#live.get(index);
      if (!line) {
        line = this.#options.render(index);
        line.id = `${this.#options.id}-${index}`;
        line.dataset['index'] = String(index);
        line.setAttribute('aria-rowindex', String(index + 2));
        this.#live.set(index, line);
        this.#insert(index, line);
      }
      line.style.top = `${index >= from && index < to ? origin + (index - from) * this.#height : index * this.#scale}px`;
      line.classList.toggle('active', index === this.#active);
    };
    for (let index = from; index < to; index++) put(index);
    if (this.#active < this.#count) put(this.#active);
    if (this.#count === 0) this.element.removeAttribute('aria-activedescendant');
    else this.element.setAttribute('aria-activedescendant', `${this.#options.id}-${this.#active}`);
  }

  /** Lines stand in the document in their order, for screen readers. */
  #insert(index: number, line: HTMLElement): void {
    for (let after = this.#rows.lastElementChild; ; after = after.previousElementSibling) {
      if (!after) {
        this.#rows.prepend(line);
        return;
      }
      if (Number((after as HTMLElement).dataset['index']) < index) {
        after.after(line);
        return;
      }
    }
  }

  #setActive(index: number): void {
    this.#live.get(this.#active)?.classList.remove('active');
    this.#active = index;
    this.#live.get(index)?.classList.add('active');
    this.element.setAttribute('aria-activedescendant', `${this.#options.id}-${index}`);
  }

  #key(event: KeyboardEvent): void {
    // The headers hold buttons of their own.
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey || this.#count === 0) return;
    const page = Math.max(1, Math.floor((this.element.clientHeight - this.#rows.offsetTop) / this.#height) - 1);
    const moves: Record<string, number> = {
      ArrowDown: this.#active + 1, j: this.#active + 1, ArrowUp: this.#active - 1, k: this.#active - 1,
      Home: 0, End: this.#count - 1,
      PageDown: this.#active + page, PageUp: this.#active - page,
    };
    const to = moves[event.key];
    if (to !== undefined) this.activate(Math.max(0, Math.min(to, this.#count - 1)));
    else if (event.key === 'Enter' || event.key === ' ') this.#options.choose(this.#active, event);
    else if (!this.#options.key?.(this.#active, event)) return;
    event.preventDefault();
  }
}
