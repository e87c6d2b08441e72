// What was asked, what comes of it, and the policies to compare.
import type { App } from './app.ts';
import { fill, h } from './dom.ts';
import { FATES, look, type View } from './picture.ts';
import type { State } from './state.ts';
import { symbol } from './symbol.ts';
import { count, grouped } from './visible.ts';

export class Head {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #verdict = h('div', { class: 'verdict', role: 'status', 'aria-label': 'Verdict' });
  readonly #otherwise = h('p', { class: 'quiet' });
  readonly #changes = h('p', { class: 'changes' });
  readonly #choices = new Map<string, HTMLInputElement>();

  constructor(app: App) {
    this.#app = app;
    const { title, source, views } = app.picture;
    const policies = views.length < 2 ? null : h(
      'fieldset', { class: 'policies-choice' },
      h('legend', {}, 'Propagation policy'),
      ...views.map((view) => {
        const input = h('input', { type: 'radio', name: 'policy', value: view.name });
        input.addEventListener('change', () => app.go({ view: view.name }));
        this.#choices.set(view.name, input);
        return h('label', {}, input, h('span', {}, view.name), ...numbers(view));
      }),
    );
    this.element = h(
      'header', { class: 'head' },
      // The verdict is the heading, where there is one.
      h('div', { class: 'asked' },
        h(views.some((view) => view.verdict) ? 'p' : 'h1', { class: 'title' }, h('bdi', {}, title)),
        h('p', { class: 'quiet' }, h('bdi', {}, source))),
      this.#otherwise,
      this.#verdict,
      policies && h('div', { class: 'policies-line' }, policies, this.#changes),
    );
  }

  show(before: State | undefined): void {
    const { view, difference } = this.#app;
    const choice = this.#choices.get(view.name);
    if (choice) choice.checked = true;
    if (before && before.view === this.#app.state.view) return;
    const { verdict } = view;
    const { views, shown } = this.#app.picture;
    this.#otherwise.hidden = view === (views[shown] ?? views[0]);
    fill(this.#otherwise, `Shown: --propagation=${view.name}, which is not what the command asked for.`);
    this.#verdict.hidden = !verdict;
    this.#verdict.className = `verdict fate-${verdict?.fate ?? 'untouched'}`;
    // The live region tells the sentence when the policy changes.
    fill(this.#verdict, ...(verdict ? [
      symbol(verdict.fate), h('h1', {}, h('strong', {}, verdict.word), verdict.word ? ' ' : '', verdict.sentence),
    ] : []));
    const changed = difference?.was.size ?? 0;
    fill(this.#changes, difference
      ? changed === 0 ? `All objects end as with ${difference.from}.`
        : `${count(changed, 'object ends', 'objects end')} differently than with ${difference.from}` +
          (difference.outside === 0 ? ': marked “was”.' : `; ${grouped(difference.outside)} of them ` +
            `${difference.outside === 1 ? 'is' : 'are'} outside of this plan.`)
      : null);
  }
}

/** How many objects end in which state under a policy, and how many lose data. */
function numbers(view: View): HTMLElement[] {
  const counts = new Map<string, number>();
  let lost = 0;
  for (const row of view.rows) {
    if (row.object === undefined || row.points || row.fate === 'untouched') continue;
    counts.set(row.fate, (counts.get(row.fate) ?? 0) + Math.max(1, row.more ?? 0));
    if (row.loses) lost += 1;
  }
  const ends = FATES.filter((fate) => counts.has(fate)).map((fate) => h(
    'span', { class: 'number', title: look(fate).word },
    symbol(fate), grouped(counts.get(fate)!), h('span', { class: 'unseen' }, ` ${look(fate).word}`),
  ));
  return lost === 0 ? ends : [
    h('span', { class: 'number loses', title: 'loses data' }, `! ${grouped(lost)}`, h('span', { class: 'unseen' }, ' lose data')),
    ...ends,
  ];
}
