// What the page shows now. Its parts show it again whenever that changes.
import { Forest, matcher, type Line } from './forest.ts';
import { sorted } from './lines.ts';
import { look, type KubeObject, type Picture, type View } from './picture.ts';
import { hasSameFilter, isFiltered, read, START, write, type State } from './state.ts';

/** Names of API servers; others, from a dump, might not come through a link as they are. */
const PLAIN = /^[a-z0-9]{1,63}(\/[a-z0-9.:-]{0,253}){2}$/;

/** How a link names an object: so it fits tomorrow's page, too. */
function placeOf({ kind, namespace, name }: KubeObject): string {
  return `${kind.toLowerCase()}/${namespace ?? ''}/${name}`;
}

/** What becomes of an object. */
export function endOf({ row }: Line): string {
  return row.word || look(row.fate).word;
}

export class App {
  readonly picture: Picture;
  state: State = START;
  view: View;
  forest: Forest;
  /** The policy that was shown before. */
  compared: View | undefined;
  selected: Line | undefined;
  /** The lines of the list. */
  lines: Line[] = [];
  /** Show what is shown now. */
  readonly parts: ((before: State | undefined) => void)[] = [];
  /** Tells a screen reader. */
  say: (text: string) => void = () => undefined;
  readonly #asked: View;
  readonly #forests = new Map<View, Forest>();
  readonly #byPlace = new Map<string, number>();

  constructor(picture: Picture) {
    this.picture = picture;
    picture.objects.forEach((object, index) => {
      const place = placeOf(object);
      if (PLAIN.test(place) && !this.#byPlace.has(place)) this.#byPlace.set(place, index);
    });
    this.#asked = this.view = picture.views[picture.shown] ?? picture.views[0] ?? { name: '', rows: [] };
    this.forest = this.forestOf(this.view);
  }

  /** Shows what the address says. */
  start(): void {
    for (const event of ['popstate', 'hashchange']) {
      addEventListener(event, () => {
        if (location.hash.replace(/^#/, '') !== write(this.state)) this.#show(read(location.hash), this.state);
      });
    }
    this.#show(read(location.hash), undefined);
    // What other policies do is made ready while the reader looks at this one.
    for (const view of this.picture.views) setTimeout(() => this.forestOf(view), 50);
  }

  get isTable(): boolean {
    return this.state.show === 'table';
  }

  /** Whether the view is the one that the command asked for. */
  get isAsked(): boolean {
    return this.view === this.#asked;
  }

  /** Changes what is shown. A step is one that the browser's back button takes back. */
  go(change: Partial<State>, isStep = true): void {
    const before = this.state;
    this.#show({ ...before, ...change }, before);
    const hash = write(this.state);
    if (hash === write(before)) return;
    const address = hash === '' ? location.href.replace(/#.*$/, '') : `#${hash}`;
    try {
      if (isStep) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    } catch {
      // A frame may forbid it: the page works without a link.
    }
  }

  select({ index, row }: Line, isStep = true): void {
    const place = index === undefined ? `row-${this.view.rows.indexOf(row)}` : placeOf(this.picture.objects[index]!);
    const isKnown = index === undefined || this.#byPlace.get(place) === index;
    this.go({ at: isKnown ? place : `object-${index}` }, isStep);
  }

  /** The next line after the selected one, in the order of the tree, that needs attention most. */
  nextWorst(): Line | undefined {
    const { all } = this.forest;
    const from = this.selected ? all.indexOf(this.selected) + 1 : 0;
    const isBad = ({ row, matches }: Line): boolean =>
      matches && (row.fate === 'stuck' || row.fate === 'error' || row.loses === true);
    return [...all.slice(from), ...all.slice(0, from)].find(isBad);
  }

  /** What became of an object under the policy before, if it was something else. */
  before(index: number | undefined): string | undefined {
    if (!this.compared || index === undefined) return undefined;
    const was = endOf(this.forestOf(this.compared).lineOf(index));
    return was === endOf(this.forest.lineOf(index)) ? undefined : was;
  }

  /** The forest of a view; made when it is first wanted. */
  forestOf(view: View): Forest {
    const forest = this.#forests.get(view) ?? new Forest(this.picture, view);
    this.#forests.set(view, forest);
    return forest;
  }

  #show(state: State, before: State | undefined): void {
    this.state = state;
    const view = this.picture.views.find(({ name }) => name !== '' && name === state.view) ?? this.#asked;
    const isOther = view !== this.view;
    if (isOther) {
      // A link that is opened has no policy before.
      this.compared = before && this.view;
      const old = this.forest;
      this.view = view;
      this.forest = this.forestOf(view);
      this.forest.openAs(old);
    }
    if (isOther || !before || !hasSameFilter(state, before)) {
      this.forest.filter(isFiltered(state) ? matcher(state) : undefined);
    }
    this.selected = this.#find(state.at);
    if (this.selected && state.at !== before?.at) this.forest.reveal(this.selected);
    this.lines = this.isTable ? sorted(this) : this.forest.visible();
    for (const part of this.parts) part(before);
  }

  #find(at: string): Line | undefined {
    const [, end, number] = /^(row|object)-(\d+)$/.exec(at) ?? [];
    if (end === 'row') return this.forest.all.find(({ row }) => row === this.view.rows[Number(number)]);
    const index = this.#byPlace.get(at) ?? (number === undefined ? -1 : Number(number));
    return this.picture.objects[index] && this.forest.lineOf(index);
  }
}
