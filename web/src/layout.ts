// What the drawing shows, and where. d3-hierarchy lays it out; this file chooses a part that a reader can take in.
import { hierarchy, tree as layout } from 'd3-hierarchy';
import type { App } from './app.ts';
import type { Link } from './picture.ts';

/** The drawing never has more nodes than this. */
export const MOST = 400;
/** So many of what the selected node stands below are always drawn. */
const ANCESTORS = 40;
/** Owners that stand in no line of the view. */
const MOST_OWNERS = 60;
const NEIGHBOURS = 40;

export const WIDTH = 216;
export const HEIGHT = 42;
const DOWN = HEIGHT + 12;
const ACROSS = WIDTH + 72;

export interface Node {
  /** The line of the forest, or -1 for an owner that stands in no line. */
  node: number;
  object: number | undefined;
  x: number;
  y: number;
  level: number;
  /** How many lines below it are not drawn. */
  hidden: number;
  above: Node | undefined;
  children: Node[];
}

export interface Edge {
  from: Node;
  to: Node;
  /** The owner reference; `undefined` for a line that only stands below another. */
  link: Link | undefined;
  /** It leads to a fold, or from it to a member. */
  isFolded: boolean;
}

export interface Layout {
  nodes: Node[];
  edges: Edge[];
  /** How many lines the drawing leaves out although they are open. */
  left: number;
}

export function lay(app: App): Layout {
  const drawn = new Drawn(app);
  choose(app, drawn);
  const { nodes } = drawn;
  const owners = ownersOutside(app, nodes);
  const all = connect(app, drawn, owners);
  place(all.filter((node) => !node.above));
  return { nodes: all, edges: edgesOf(app, all), left: app.lines.length - nodes.size - drawn.repeated };
}

/** The nodes of a drawing: one for each line, but only one for each object. */
class Drawn {
  readonly nodes = new Map<number, Node>();
  readonly #objects = new Set<number>();
  readonly #app: App;
  /** Lines of objects that stand in a line of their own. */
  repeated = 0;

  constructor(app: App) {
    this.#app = app;
  }

  add(node: number): void {
    if (this.nodes.has(node)) return;
    const object = this.#app.forest.objectIndex(node);
    if (object !== undefined) {
      if (this.#objects.has(object)) return;
      this.#objects.add(object);
    }
    this.nodes.set(node, newNode(node, object));
  }

  /** Whether a line is in the drawing: itself, or another one of its object. */
  has(node: number): boolean {
    const object = this.#app.forest.objectIndex(node);
    return this.nodes.has(node) || (object !== undefined && this.#objects.has(object));
  }
}

function newNode(node: number, object: number | undefined): Node {
  return { node, object, x: 0, y: 0, level: 1, hidden: 0, above: undefined, children: [] };
}

/** Draws what is around the selected node first, then from the roots down, as far as there is room. */
function choose(app: App, drawn: Drawn): void {
  const { forest, lines } = app;
  const { nodes } = drawn;
  const isLine = new Uint8Array(forest.size);
  for (const node of lines) isLine[node] = 1;
  // What stands below an object stands below its own row.
  const isRepeated = (node: number): boolean => {
    const object = forest.objectIndex(node);
    const own = object === undefined ? node : forest.rowOf(object);
    return own !== node && isLine[own] === 1;
  };
  const selected = app.selected?.node ?? -1;
  if (selected >= 0 && (!app.shown || app.shown.keep[selected])) {
    let above = selected;
    for (let step = 0; above >= 0 && step < ANCESTORS; step++) {
      drawn.add(above);
      above = forest.parent[above]!;
    }
    let found = 0;
    for (let at = lines.indexOf(selected) + 1; at > 0 && at < lines.length && found < NEIGHBOURS; at++) {
      if (forest.level[lines[at]!]! <= forest.level[selected]!) break;
      if (!isRepeated(lines[at]!)) drawn.add(lines[at]!);
      found += 1;
    }
  }
  // By levels: what stands high is drawn before what stands deep. Lines that are open are in `lines`.
  const byLevel: number[][] = Array.from({ length: MOST + 1 }, () => []);
  for (const node of lines) byLevel[forest.level[node]!]?.push(node);
  for (const level of byLevel) {
    for (const node of level) {
      if (nodes.size >= MOST) return;
      if (forest.parent[node]! >= 0 && !nodes.has(forest.parent[node]!)) continue;
      if (isRepeated(node)) drawn.repeated += 1;
      else drawn.add(node);
    }
  }
}

/** Owners of what is drawn that have no line: outside of the view, or missing. */
function ownersOutside(app: App, nodes: Map<number, Node>): Map<number, Node> {
  const { relations, picture, forest } = app;
  const owners = new Map<number, Node>();
  for (const { object } of nodes.values()) {
    if (object === undefined) continue;
    for (const link of relations.owners(object)) {
      const { owner } = picture.links[link]!;
      if (owners.size === MOST_OWNERS) return owners;
      if (forest.rowOf(owner) < 0 && !owners.has(owner)) owners.set(owner, newNode(-1, owner));
    }
  }
  return owners;
}

/** Puts each node below the one that it stands below, and counts what is not drawn; all nodes in their order. */
function connect(app: App, drawn: Drawn, owners: Map<number, Node>): Node[] {
  const { forest, shown } = app;
  const { nodes } = drawn;
  const inOrder = [...nodes.values()].sort((a, b) => forest.place[a.node]! - forest.place[b.node]!);
  for (const node of inOrder) node.above = nodes.get(forest.parent[node.node]!);
  // Owners outside stand before what they own, if nothing of the view does.
  for (const node of [...owners.values(), ...inOrder]) node.above ??= outsideOwnerOf(app, node, owners);
  const all = [...owners.values(), ...inOrder];
  for (const node of all) node.above?.children.push(node);
  const queue = all.filter((node) => !node.above);
  for (const node of queue) {
    node.level = (node.above?.level ?? 0) + 1;
    for (const child of node.children) queue.push(child);
  }
  for (const node of nodes.values()) {
    if (!forest.hasChildren(node.node, shown)) continue;
    const isAllDrawn = forest.isOpen(node.node, shown) && !hasMore(app, drawn, node.node);
    node.hidden = isAllDrawn ? 0 : Math.max(1, forest.fold(node.node)?.members ?? forest.below[node.node]!);
  }
  return all;
}

function outsideOwnerOf(app: App, node: Node, owners: Map<number, Node>): Node | undefined {
  if (node.object === undefined) return undefined;
  for (const at of app.relations.owners(node.object)) {
    const link = app.picture.links[at]!;
    const owner = owners.get(link.owner);
    if (owner && !link.invalid && !link.closesCycle && !isAbove(node, owner)) return owner;
  }
  return undefined;
}

/** Whether a node stands above another one already: owners may own each other. */
function isAbove(node: Node, other: Node): boolean {
  for (let above: Node | undefined = other; above; above = above.above) if (above === node) return true;
  return false;
}

/** Whether a node has a child that is shown and not drawn. */
function hasMore(app: App, drawn: Drawn, node: number): boolean {
  const { forest, shown } = app;
  const end = forest.place[node]! + forest.span[node]!;
  for (let at = forest.place[node]! + 1; at < end; at += forest.span[forest.order[at]!]!) {
    const child = forest.order[at]!;
    if ((!shown || shown.keep[child]) && !drawn.has(child)) return true;
  }
  return false;
}

function place(roots: Node[]): void {
  const top = hierarchy<{ node?: Node; children: Node[] }>(
    { children: roots },
    (datum) => datum.children.map((node) => ({ node, children: node.children })),
  );
  const laid = layout<{ node?: Node; children: Node[] }>()
    .nodeSize([DOWN, ACROSS])
    .separation((a, b) => (a.parent === b.parent && a.depth > 1 ? 1 : 1.3))(top);
  laid.each(({ data, x, depth }) => {
    if (!data.node) return;
    data.node.x = (depth - 1) * ACROSS;
    data.node.y = x;
  });
}

function edgesOf(app: App, nodes: Node[]): Edge[] {
  const byObject = new Map<number, Node>();
  for (const node of nodes) {
    if (node.object !== undefined && !byObject.has(node.object)) byObject.set(node.object, node);
  }
  const edges: Edge[] = [];
  for (const to of nodes) {
    let isBelowOwner = false;
    if (to.object !== undefined && byObject.get(to.object) === to) {
      for (const at of app.relations.owners(to.object)) {
        const link = app.picture.links[at]!;
        const from = byObject.get(link.owner);
        // The members of a fold stand below the fold: a second line to their owner would say nothing.
        if (!from || (from === to.above?.above && app.forest.isFold(to.above.node))) continue;
        edges.push({ from, to, link, isFolded: false });
        isBelowOwner ||= from === to.above;
      }
    }
    if (!to.above || isBelowOwner) continue;
    const isFolded = app.forest.isFold(to.node) || app.forest.isFold(to.above.node) || Boolean(app.forest.row(to.node)?.more);
    edges.push({ from: to.above, to, link: undefined, isFolded });
  }
  return edges;
}
