// Every fate has a shape of its own, so that it shows without colour.
import { s } from './dom.ts';
import type { Fate } from './picture.ts';

interface Shape {
  /** What is filled with the fate's colour. */
  solid?: string;
  /** What is drawn with a line of the fate's colour. */
  line?: string;
  /** What is drawn on the solid, in the background's colour. */
  mark?: string;
  dashed?: boolean;
}

const CIRCLE = 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z';

const SHAPES: Record<Fate, Shape> = {
  // An octagon with an exclamation mark.
  error: { solid: 'M5 1h6l4 4v6l-4 4H5l-4-4V5z', mark: 'M8 4v5M8 11v1.4' },
  // A square with two bars: it goes no further.
  stuck: { solid: 'M1.5 1.5h13v13h-13z', mark: 'M5.8 4.5v7M10.2 4.5v7' },
  // A triangle.
  warning: { solid: 'M8 1l7.4 13.6H.6z', mark: 'M8 5.6v4.2M8 11.4v1.4' },
  // A diamond with a question mark.
  unsure: { solid: 'M8 .4L15.6 8 8 15.6.4 8z', mark: 'M6 6.4a2 2 0 1 1 2.9 1.7q-.9.5-.9 1.4M8 11v1.2' },
  // An hourglass.
  waits: { solid: 'M3 1.5h10L9 8l4 6.5H3L7 8z', line: 'M2.2 1.5h11.6M2.2 14.5h11.6' },
  // A circle with an i.
  note: { line: CIRCLE, mark: '', solid: 'M7.2 4h1.6v1.8H7.2zM7.2 7h1.6v5H7.2z' },
  // A cross.
  deleted: { line: 'M3 3l10 10M13 3L3 13' },
  // A tick.
  kept: { line: 'M1.8 8.8l4.2 4.4L14.2 3' },
  // A circle that is not there.
  absent: { line: CIRCLE, dashed: true },
  // An empty circle.
  stays: { line: CIRCLE },
};

/** The shape of a fate, 16 by 16. It says nothing to a screen reader: a word stands beside it. */
export function shape(fate: Fate): SVGSVGElement {
  const svg = s('svg', { class: `shape fate-${fate}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' });
  svg.append(...shapeParts(fate));
  return svg;
}

/** The parts of a shape, for a drawing that has its own coordinates. */
export function shapeParts(fate: Fate): SVGPathElement[] {
  const { solid, line, mark, dashed } = SHAPES[fate] ?? SHAPES.stays;
  const parts: SVGPathElement[] = [];
  if (solid) parts.push(s('path', { class: 'shape-solid', d: solid }));
  if (line) parts.push(s('path', { class: dashed ? 'shape-line shape-dashed' : 'shape-line', d: line }));
  if (mark) parts.push(s('path', { class: 'shape-mark', d: mark }));
  return parts;
}
