// A list of any length: only the lines that are in sight are in the document. Lines have one height, so that places
// are a multiplication; the keyboard moves an active line, which screen readers follow.
import { forest, lines } from './app.ts';
import { h } from './dom.ts';
import { header, lineOf } from './lines.ts';

/** Lines in the document above and below those in sight. */
const MARGIN = 8;
/** Browsers have no taller elements: Firefox ends at 17.8 million pixels. */
const TALLEST = 16_000_000;

const headers = h('div.headers', { role: 'rowgroup' });
const rows = h('div.lines', { role: 'rowgroup' });
export const list = h('div.list', { tabindex: 0 }, headers, rows);
/** The place of the active line in the list. */
let active = 0;
let drawn = '';

list.addEventListener('scroll', draw, { passive: true });
new ResizeObserver(draw).observe(list);

/** The active line, or -1. */
export function activeLine(): number {
  return lines[active] ?? -1;
}

/** Shows the lines of now. The active one stays, or what it stands below. */
export function showLines(line: number): void {
  const places = new Map(lines.map((line, place) => [line, place]));
  while (line >= 0 && !places.has(line)) line = forest.parent[line]!;
  active = places.get(line) ?? 0;
  headers.replaceChildren(header());
  list.ariaRowCount = String(lines.length + 1);
  drawn = '';
  draw();
}

/** Makes a line the active one, and brings it into sight: into the middle if it is far away. */
export function activate(place: number): void {
  const isFar = Math.abs(place - active) > 1;
  active = Math.max(0, Math.min(place, lines.length - 1));
  const { height, distance, room } = measures();
  const top = active * distance;
  const above = top - list.scrollTop;
  if (above < 0 || above + height > room) {
    list.scrollTop = isFar ? top - room / 2 : above < 0 ? top : top + height - room;
  }
  drawn = '';
  draw();
}

/** The height of a line, the distance of two (less if the list would be too tall), and the room for lines. */
function measures(): { height: number; distance: number; room: number } {
  const height = parseFloat(getComputedStyle(list).getPropertyValue('--line'));
  const distance = Math.min(height, TALLEST / Math.max(1, lines.length));
  return { height, distance, room: list.clientHeight - rows.offsetTop };
}

function draw(): void {
  const { height, distance, room } = measures();
  const size = lines.length;
  const fits = Math.ceil(room / height) + 2 * MARGIN;
  const from = Math.max(0, Math.min(Math.floor(list.scrollTop / distance) - MARGIN, size - fits));
  const to = Math.min(size, from + fits);
  if (drawn === (drawn = `${from} ${to} ${height}`)) return;
  rows.style.height = `${size * distance}px`;
  const places = Array.from({ length: to - from }, (_, at) => from + at);
  // The active line stays in the document, in order, for screen readers.
  if (active < from) places.unshift(active);
  else if (active >= to && size > 0) places.push(active);
  rows.replaceChildren(...places.map((place) => {
    const row = lineOf(lines[place]!, place);
    row.classList.toggle('active', place === active);
    // Lines of a list that is too tall stand below the first one, not on top of each other.
    row.style.top = `${place < from || place >= to ? place * distance : from * distance + (place - from) * height}px`;
    return row;
  }));
  list.setAttribute('aria-activedescendant', size > 0 ? `line-${active}` : '');
}

/** Where a key leads to in the list. */
export function move(key: string): boolean {
  const { height, room } = measures();
  const page = Math.max(1, Math.floor(room / height) - 1);
  const to = ({
    ArrowDown: active + 1, j: active + 1, ArrowUp: active - 1, k: active - 1, PageDown: active + page,
    PageUp: active - page, Home: 0, End: lines.length,
  } as Record<string, number>)[key];
  if (to !== undefined) activate(to);
  return to !== undefined;
}
