// What was asked, what comes of it, and the policies to compare.
import type { App } from './app.ts';
import { bdi, count, fill, grouped, h, symbol } from './dom.ts';
import { numbersOf } from './forest.ts';
import { look, type View } from './picture.ts';

export function head(app: App): HTMLElement {
  const { title, source, views, objects } = app.picture;
  const verdict = h('div', { role: 'status', 'aria-label': 'Verdict' });
  const otherwise = h('p', { class: 'quiet' });
  const changes = h('p', { class: 'changes' });
  const choices = views.map((view) => {
    const input = h('input', { type: 'radio', name: 'policy', value: view.name });
    input.addEventListener('change', () => app.go({ view: view.name }));
    return { view, input, label: h('label', {}, input, h('span', {}, view.name), ...numbers(view)) };
  });
  app.parts.push((before) => {
    const { view, compared } = app;
    for (const choice of choices) choice.input.checked = choice.view === view;
    if (before?.view === app.state.view) return;
    otherwise.hidden = app.isAsked;
    fill(otherwise, `Shown: --propagation=${view.name}, which is not what the command asked for.`);
    const { fate, word, sentence } = view.verdict ?? { fate: 'untouched', word: '', sentence: '' };
    verdict.hidden = !view.verdict;
    verdict.className = `verdict fate-${fate}`;
    // The live region tells the sentence when the policy changes.
    fill(verdict, symbol(fate), h('h1', {}, h('strong', {}, word), word && ' ', sentence));
    const changed = objects.map((_, index) => index).filter((index) => app.before(index) !== undefined);
    const outside = changed.filter((index) => app.forest.lineOf(index).isOutside).length;
    fill(changes, compared && (changed.length === 0 ? `All objects end as with ${compared.name}.`
      : `${count(changed.length, 'object ends', 'objects end')} differently than with ${compared.name}` +
        (outside === 0 ? ': marked “was”.'
          : `; ${grouped(outside)} of them ${outside === 1 ? 'is' : 'are'} outside of this plan.`)));
  });
  return h(
    'header', { class: 'head' },
    // The verdict is the heading, where there is one.
    h('div', { class: 'asked' },
      h(views.some((view) => view.verdict) ? 'p' : 'h1', { class: 'title' }, bdi(title)),
      h('p', { class: 'quiet' }, bdi(source))),
    otherwise,
    verdict,
    views.length > 1 && h('div', { class: 'policies-line' },
      h('fieldset', { class: 'policies-choice' }, h('legend', {}, 'Propagation policy'),
        ...choices.map(({ label }) => label)),
      changes),
  );
}

/** How many objects lose data under a policy, and how many end in which state. */
function numbers({ rows }: View): HTMLElement[] {
  const number = (of: number, shown: HTMLElement | string, word: string, kind = ''): HTMLElement => h(
    'span', { class: `number ${kind}`, title: word }, shown, grouped(of), h('span', { class: 'unseen' }, ` ${word}`));
  const lost = rows.filter((row) => row.loses).length;
  const ends = [...numbersOf(rows)].filter(([fate]) => fate !== 'untouched');
  return [
    ...(lost === 0 ? [] : [number(lost, '! ', 'lose data', 'loses')]),
    ...ends.map(([fate, of]) => number(of, symbol(fate), look(fate).word)),
  ];
}
