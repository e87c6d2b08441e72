// Owners at the left, dependents at the right, and the owner references between them.
import { select, type Selection } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomBehavior } from 'd3-zoom';
import type { App } from './app.ts';
import { button, fill, h, s } from './dom.ts';
import { HEIGHT, lay, MOST, WIDTH, type Edge, type Layout, type Node } from './layout.ts';
import { FATE_WORDS, OUTSIDE } from './picture.ts';
import { shapeParts } from './shapes.ts';
import type { State } from './state.ts';
import { grouped, visible } from './visible.ts';

const NEAREST = 2;
const FARTHEST = 0.02;
/** The drawing begins no smaller than this: names are readable. */
const READABLE = 0.8;
/** Below this, names can't be read: only shapes are shown, larger. */
const FAR = 0.45;
const STEP = 1.3;
const EDGE = 24;

/** How an owner reference is drawn, and what that means. */
const LINES = {
  plain: 'owner reference',
  blocks: 'blocks its owner’s deletion in the foreground',
  invalid: 'invalid: the collector treats the owner as gone',
  cycle: 'closes a cycle of owners',
  folded: 'folded objects',
  below: 'stands below it, without an owner reference',
} as const;
type LineStyle = keyof typeof LINES;

function styleOf({ link, isFolded }: Edge): LineStyle {
  if (!link) return isFolded ? 'folded' : 'below';
  if (link.invalid) return 'invalid';
  if (link.closesCycle) return 'cycle';
  return link.blocks ? 'blocks' : 'plain';
}

export class Drawing {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #stage: HTMLElement;
  readonly #svg = s('svg', { class: 'canvas', role: 'presentation' });
  readonly #content = s('g', { role: 'presentation' });
  readonly #note = h('p', { class: 'note' });
  readonly #legend = h('div', { class: 'lines-legend' });
  readonly #selection: Selection<SVGSVGElement, unknown, null, undefined>;
  readonly #zoom: ZoomBehavior<SVGSVGElement, unknown>;
  #layout: Layout = { nodes: [], edges: [], left: 0 };
  #elements = new Map<Node, SVGGElement>();
  #active: Node | undefined;
  #revision = -1;
  #isPlaced = false;

  constructor(app: App) {
    this.#app = app;
    this.#svg.append(definitions(), this.#content);
    this.#stage = h('div', {
      id: 'drawing', class: 'stage', role: 'tree', tabindex: 0,
      'aria-label': 'Drawing of owners and their dependents. The tree says the same in lines.',
      'aria-describedby': 'drawing-keys',
    });
    this.#stage.append(this.#svg);
    const tool = (text: string, label: string, pressed: () => void): HTMLElement =>
      button(text, { 'aria-label': label, title: label }, pressed);
    this.element = h(
      'div', { class: 'drawing' },
      this.#stage,
      h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom' },
        tool('+', 'Zoom in', () => this.#scaleBy(STEP)),
        tool('−', 'Zoom out', () => this.#scaleBy(1 / STEP)),
        tool('Fit', 'Fit all of the drawing', () => this.#fit(FARTHEST)),
        tool('1:1', '1:1, in its own size', () => this.#center(this.#active, 1))),
      this.#note,
      this.#legend,
      h('p', { id: 'drawing-keys', class: 'unseen' },
        'Arrows move between objects, Enter tells the story, space opens and closes, plus and minus zoom, 0 fits, ' +
        'shift with arrows moves the drawing.'),
    );
    this.#selection = select<SVGSVGElement, unknown>(this.#svg);
    this.#zoom = zoom<SVGSVGElement, unknown>().scaleExtent([FARTHEST, NEAREST]).on('zoom', (event) => {
      this.#content.setAttribute('transform', event.transform.toString());
      this.#svg.classList.toggle('far', event.transform.k < FAR);
    });
    this.#selection.call(this.#zoom).on('dblclick.zoom', null);
    this.#svg.addEventListener('click', (event) => this.#click(event));
    this.#stage.addEventListener('keydown', (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.#key(event)) event.preventDefault();
    });
  }

  show(before: State | undefined): void {
    const app = this.#app;
    if (app.state.tab !== 'drawing') return;
    const isNew = before?.tab !== 'drawing' || before.view !== app.state.view || !this.#isPlaced;
    const isAnew = isNew || before?.at !== app.state.at;
    if (this.#revision !== app.revision) {
      const active = this.#active;
      this.#revision = app.revision;
      this.#layout = lay(app);
      this.#draw();
      const again = active && this.#layout.nodes.find((node) => isSame(node, active));
      this.#setActive(again ?? this.#layout.nodes[0]);
      // What was opened or closed stays where it was.
      if (again && active && !isNew) this.#shift(active, again);
    }
    const selected = app.selected && this.#layout.nodes.find((node) => this.#isSelected(node));
    if (selected && isAnew) this.#setActive(selected);
    if (isNew) this.#fit(READABLE, selected);
    else if (selected && isAnew) this.#bringIntoSight(selected);
    this.#isPlaced = true;
  }

  #draw(): void {
    const { nodes, edges, left } = this.#layout;
    this.#elements = new Map();
    this.#content.replaceChildren();
    const lines = s('g', { 'aria-hidden': 'true' });
    for (const edge of edges) lines.append(this.#edge(edge));
    const boxes = s('g', { role: 'presentation' });
    nodes.forEach((node, place) => {
      const box = this.#node(node, place);
      this.#elements.set(node, box);
      boxes.append(box);
    });
    this.#content.append(lines, boxes);
    this.#note.hidden = left <= 0 && nodes.length > 0;
    this.#note.textContent = nodes.length === 0 ? 'Nothing to draw.'
      : `The drawing shows ${nodes.length} of ${grouped(nodes.length + left)} open lines (at most ${MOST}). ` +
        'Select, search or filter to draw others.';
    const used = new Set(edges.map(styleOf));
    const keys = (Object.keys(LINES) as LineStyle[]).filter((style) => used.has(style));
    this.#legend.hidden = keys.length === 0;
    fill(this.#legend, ...keys.map((style) => h('span', { class: 'key' }, sample(style), LINES[style])));
  }

  #edge(edge: Edge): SVGElement {
    const { from, to } = edge;
    const style = styleOf(edge);
    const { d, middle } = route(from, to);
    const line = s('path', { class: `edge edge-${style}`, d, 'marker-end': 'url(#end)' });
    if (style === 'blocks') line.setAttribute('marker-start', 'url(#bar)');
    if (style !== 'invalid') return line;
    const cross = s('path', {
      class: 'edge-cross', d: 'M-5,-5L5,5M5,-5L-5,5', transform: `translate(${middle[0]},${middle[1]})`,
    });
    return s('g', {}, line, cross);
  }

  #node(node: Node, place: number): SVGGElement {
    const { forest, difference, shown } = this.#app;
    const isLine = node.node >= 0;
    const object = this.#app.object(node.object);
    const fate = isLine ? forest.fate(node.node) : object?.virtual ? 'absent' : 'stays';
    const word = isLine ? forest.word(node.node) : object?.virtual ? 'does not exist' : OUTSIDE;
    const fold = isLine ? forest.fold(node.node) : undefined;
    const name = fold ? `… ${grouped(fold.members)} more` : object?.name ?? forest.title(node.node);
    const kind = fold?.kind ?? object?.kind ?? '';
    const was = node.object === undefined ? undefined : difference?.was.get(node.object);
    const about = was !== undefined ? `${word || FATE_WORDS[fate]}, was: ${was}`
      : [kind, word || (kind ? '' : FATE_WORDS[fate])].filter((part) => part !== '').join(' · ');
    const hasChildren = isLine && forest.hasChildren(node.node, shown);
    const label = [
      `${name} ${about}`, isLine ? forest.detail(node.node) : '', was === undefined ? '' : kind,
    ].filter((part) => part !== '').join(', ');
    const box = s(
      'g', {
        id: `node-${place}`, role: 'treeitem', class: [
          'node', `fate-${fate}`, fold ? 'fold' : '', this.#isSelected(node) ? 'selected' : '', isLine ? '' : 'outside',
          shown && isLine && !(shown.keep[node.node]! & 1) ? 'aside' : '',
        ].join(' '),
        transform: `translate(${node.x},${node.y - HEIGHT / 2})`, 'data-place': place,
        'aria-level': node.level, 'aria-selected': String(this.#isSelected(node)), 'aria-label': label,
        'aria-expanded': hasChildren ? String(node.hidden === 0) : undefined,
      },
      s('rect', { class: 'box', width: WIDTH, height: HEIGHT, rx: 6 }, s('title', {}, label)),
      s('g', { class: 'shape icon' }, ...shapeParts(fate)),
      s('g', { class: 'texts', 'clip-path': 'url(#box)', 'aria-hidden': 'true' },
        s('text', { class: 'name', x: 34, y: 17 }, shorten(name, 27)), ' ',
        s('text', { class: 'about', x: 34, y: 33 },
          shorten(about, 31))),
    );
    if (was !== undefined) box.classList.add('changed');
    if (hasChildren) {
      const text = node.hidden > 0 ? `+${grouped(node.hidden)}` : '−';
      const width = Math.max(18, text.length * 7 + 8);
      box.append(s('g', { class: 'toggle', 'aria-hidden': 'true', transform: `translate(${WIDTH},${HEIGHT / 2})` },
        s('rect', { x: -width / 2, y: -9, width, height: 18, rx: 9 }),
        s('text', { y: 4, 'text-anchor': 'middle' }, text)));
    }
    return box;
  }

  #isSelected(node: Node): boolean {
    const { selected } = this.#app;
    if (!selected) return false;
    return node.node >= 0 ? node.node === selected.node : node.object !== undefined && node.object === selected.object;
  }

  #setActive(node: Node | undefined): void {
    if (this.#active) this.#elements.get(this.#active)?.classList.remove('active');
    this.#active = node;
    const element = node && this.#elements.get(node);
    element?.classList.add('active');
    if (element) this.#stage.setAttribute('aria-activedescendant', element.id);
    else this.#stage.removeAttribute('aria-activedescendant');
  }

  #click(event: MouseEvent): void {
    const box = (event.target as Element).closest<SVGGElement>('[data-place]');
    const node = box && this.#layout.nodes[Number(box.dataset['place'])];
    if (!node) return;
    this.#setActive(node);
    const isToggle = (event.target as Element).closest('.toggle') !== null;
    if (isToggle || (node.node >= 0 && this.#app.forest.isFold(node.node))) this.#toggle(node);
    else this.#app.select(node.node, node.object);
  }

  #toggle(node: Node): void {
    const { forest, shown } = this.#app;
    if (node.node < 0 || !forest.hasChildren(node.node, shown)) return;
    const isOpen = forest.isOpen(node.node, shown);
    // Open, and yet there is no room for all of it: selecting it makes room.
    if (isOpen && node.hidden > 0 && !forest.isFold(node.node)) this.#app.select(node.node, node.object);
    else {
      forest.setOpen(node.node, !isOpen, shown);
      this.#app.redraw();
    }
  }

  #key(event: KeyboardEvent): boolean {
    const node = this.#active;
    if (event.shiftKey && event.key.startsWith('Arrow')) {
      const by: Record<string, [number, number]> = {
        ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60],
      };
      const [x, y] = by[event.key]!;
      this.#zoom.translateBy(this.#selection, x / this.#scale, y / this.#scale);
      return true;
    }
    switch (event.key) {
      case '+': case '=': this.#scaleBy(STEP); return true;
      case '-': this.#scaleBy(1 / STEP); return true;
      case '0': this.#fit(FARTHEST); return true;
    }
    if (!node) return false;
    switch (event.key) {
      case 'Enter':
        if (node.node >= 0 && this.#app.forest.isFold(node.node)) this.#toggle(node);
        else this.#app.select(node.node, node.object);
        return true;
      case ' ': this.#toggle(node); return true;
      case 'ArrowRight':
        if (node.children[0]) this.#move(node.children[0]);
        else if (node.hidden > 0) this.#toggle(node);
        return true;
      case 'ArrowLeft':
        if (node.above) this.#move(node.above);
        return true;
      case 'ArrowDown': this.#move(this.#next(node, 1)); return true;
      case 'ArrowUp': this.#move(this.#next(node, -1)); return true;
      case 'Home': this.#move(this.#layout.nodes[0]); return true;
      default: return false;
    }
  }

  /** The next node in the same column. */
  #next(node: Node, direction: 1 | -1): Node | undefined {
    let best: Node | undefined;
    for (const other of this.#layout.nodes) {
      const distance = (other.y - node.y) * direction;
      if (other.x !== node.x || distance <= 0) continue;
      if (!best || distance < (best.y - node.y) * direction) best = other;
    }
    return best;
  }

  #move(node: Node | undefined): void {
    if (!node) return;
    this.#setActive(node);
    this.#bringIntoSight(node);
  }

  get #scale(): number {
    return this.#transform.k;
  }

  get #transform(): { k: number; x: number; y: number } {
    return (this.#svg as SVGSVGElement & { __zoom?: { k: number; x: number; y: number } }).__zoom ?? zoomIdentity;
  }

  get #room(): { width: number; height: number } {
    return { width: this.#stage.clientWidth, height: this.#stage.clientHeight };
  }

  #scaleBy(factor: number): void {
    this.#zoom.scaleBy(this.#selection, factor);
  }

  #to(k: number, x: number, y: number): void {
    this.#zoom.transform(this.#selection, zoomIdentity.translate(x, y).scale(k));
  }

  /** Fits the whole drawing, or from `least` on what is around a node or the first one. */
  #fit(least: number, around?: Node): void {
    const { nodes } = this.#layout;
    const { width, height } = this.#room;
    if (nodes.length === 0 || width === 0) return;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of nodes) {
      left = Math.min(left, x);
      right = Math.max(right, x + WIDTH);
      top = Math.min(top, y - HEIGHT / 2);
      bottom = Math.max(bottom, y + HEIGHT / 2);
    }
    const fits = Math.min((width - 2 * EDGE) / (right - left), (height - 2 * EDGE) / (bottom - top));
    const k = Math.max(least, Math.min(1, fits));
    const start = around ?? nodes[0]!;
    const x = (right - left) * k <= width ? (width - (right - left) * k) / 2 - left * k
      : Math.min(EDGE - left * k, width / 2 - (start.x + WIDTH / 2) * k);
    const y = (bottom - top) * k <= height ? (height - (bottom - top) * k) / 2 - top * k : height / 2 - start.y * k;
    this.#to(k, around ? x : Math.max(x, EDGE - left * k), y);
  }

  #center(node: Node | undefined, k: number): void {
    if (!node) return;
    const { width, height } = this.#room;
    this.#to(k, width / 2 - (node.x + WIDTH / 2) * k, height / 2 - node.y * k);
  }

  #bringIntoSight(node: Node): void {
    const { k, x, y } = this.#transform;
    const { width, height } = this.#room;
    const [left, top] = [node.x * k + x, (node.y - HEIGHT / 2) * k + y];
    const isSeen = left >= EDGE && left + WIDTH * k <= width - EDGE && top >= EDGE && top + HEIGHT * k <= height - EDGE;
    if (!isSeen) this.#center(node, Math.max(k, READABLE));
  }

  /** Moves the drawing so that a node stays where it was. */
  #shift(before: Node, after: Node): void {
    this.#zoom.translateBy(this.#selection, before.x - after.x, before.y - after.y);
  }
}

/** A curve from an owner to its dependent, which may stand in any column, and its middle. */
function route(from: Node, to: Node): { d: string; middle: [number, number] } {
  const curve = (x1: number, y1: number, bend1: number, x2: number, y2: number, bend2: number) => ({
    d: `M${x1},${y1}C${x1 + bend1},${y1} ${x2 + bend2},${y2} ${x2},${y2}`,
    middle: [(x1 + x2) / 2 + (bend1 + bend2) * 3 / 8, (y1 + y2) / 2] as [number, number],
  });
  if (to.x > from.x) {
    const bend = (to.x - from.x - WIDTH) / 2;
    return curve(from.x + WIDTH, from.y, bend, to.x, to.y, -bend);
  }
  // In the same column: around the left side. The reference of an object to itself is a loop there.
  const apart = from === to ? HEIGHT / 4 : 0;
  if (to.x === from.x) return curve(from.x, from.y - apart, -44, to.x, to.y + apart, -44);
  // Back to the left, below the line that leads here.
  const low = HEIGHT / 4;
  const bend = (from.x - to.x - WIDTH) / 2;
  return curve(from.x, from.y + low, -bend, to.x + WIDTH, to.y + low, bend);
}

function isSame(a: Node, b: Node): boolean {
  return a.node >= 0 ? a.node === b.node : b.node < 0 && a.object === b.object;
}

/** A text that fits: names differ at their ends, so the middle is left out. */
function shorten(text: string, most: number): string {
  const letters = Array.from(visible(text));
  // Letters of east Asia take twice the room.
  const wide = letters.filter((letter) => (letter.codePointAt(0) ?? 0) >= 0x1100).length;
  const room = Math.max(8, most - Math.ceil(wide / 2));
  if (letters.length <= room) return letters.join('');
  const end = Math.floor((room - 1) * 0.45);
  return `${letters.slice(0, room - 1 - end).join('')}…${letters.slice(letters.length - end).join('')}`;
}

function definitions(): SVGDefsElement {
  return s(
    'defs', {},
    s('marker', { id: 'end', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto',
      markerUnits: 'userSpaceOnUse', class: 'marker' }, s('path', { d: 'm0,0L8,4L0,8z' })),
    s('marker', { id: 'bar', viewBox: '0 0 4 12', refX: 0, refY: 6, markerWidth: 4, markerHeight: 12, orient: 'auto',
      markerUnits: 'userSpaceOnUse', class: 'marker' }, s('path', { d: 'm0,0h4v12h-4z' })),
    s('clipPath', { id: 'box' }, s('rect', { width: WIDTH - 8, height: HEIGHT })),
  );
}

/** A line as the drawing has it, for the legend. */
function sample(style: LineStyle): SVGSVGElement {
  const line = s('path', { class: `edge edge-${style}`, d: 'M4,7H40', 'marker-end': 'url(#end)' });
  if (style === 'blocks') line.setAttribute('marker-start', 'url(#bar)');
  const cross = style === 'invalid'
    ? s('path', { class: 'edge-cross', d: 'M-4,-4L4,4M4,-4L-4,4', transform: 'translate(22,7)' }) : null;
  return s('svg', { viewBox: '0 0 44 14', class: 'sample', 'aria-hidden': 'true' }, line, cross);
}
