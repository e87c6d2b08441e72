// What stands above the objects and below them: the verdict, the facts, the bar, and the foot.
import { chosen, forest, forests, go, isTable } from './app.ts';
import { data, grouped, textOf, type Section } from './data.ts';
import { fill, find, h, number, pill, type Part } from './dom.ts';
import { box, linkTo, named, section } from './story.ts';

/** So many findings have a box, and so many objects are named for each reason. */
const BOXES = 12;
const NAMES = 4;

export const search = find<HTMLInputElement>('#search');
const bar = find<HTMLFormElement>('#bar');
bar.addEventListener('input', change);

export function showHead(): void {
  const { name, verdict, reasons, sections, facts } = forest.view;
  const other = `Shown: --propagation=${name}, which is not what the command asked for. `;
  const by = (label: string): Section[] => sections.filter((one) => one.label === label);
  const then = facts.length > 0 ? facts : by('Then');
  fill(find('#head'),
    h('p.quiet', ...[data.title, data.source, data.program].flatMap((text, at) =>
      [at > 0 && ' · ', h('bdi', text)])),
    h('h1', verdict !== undefined && pill(verdict.fate, verdict.word), ' ',
      h('bdi', verdict?.sentence ?? data.title)),
    h('p', forest !== forests[data.shown] && other, h('bdi', reasons)),
    h('div.facts', ...findings(), ...by('Lost').map(section), holds(),
      ...[...by('Why'), ...then, ...by('Next')].map(section)));
  fill(find('#notes'), ...by('Note').map(section));
  find('#assumed').hidden = by('Note').length === 0;
  if (search.value !== chosen('q')) search.value = chosen('q');
  showChoices();
}

/** A box for each finding, the worst first. */
function findings(): HTMLElement[] {
  const { fate, detail, story } = forest.view.rows;
  const boxes = forest.findings.slice(0, BOXES).map((line) => h('section',
    h('h2', pill(fate[line]!), ' ', h('bdi', forest.cell(line, 'object'))),
    h('p', h('bdi', textOf(detail, line))), ...data.stories[story[line]!]!.map(section)));
  const more = forest.findings.length - BOXES;
  return more > 0 ? [...boxes, h('p', `${grouped(more)} more below`)] : boxes;
}

/** What holds it up: objects for the same reason in one line. */
function holds(): HTMLElement {
  const by = new Map<string, number[]>();
  for (const line of forest.culprits) {
    const [why, object] = [forest.cell(line, 'detail'), forest.view.rows.object[line]! - 1];
    if (!by.get(why)?.push(object)) by.set(why, [object]);
  }
  // What came of a delete says it, too.
  const isSaid = forest.view.facts.some(({ label }) => label === 'Left Terminating');
  return box('What holds it up', isSaid ? [] : [...by], ([why, objects]) =>
    [...named(objects, linkTo, NAMES), h('bdi', why && `: ${why}`)]);
}

/** The policies with their numbers, and the states that are shown. */
function showChoices(): void {
  const off = chosen('off').split(' ');
  const policies = forests.map((other) => {
    const numbers = data.states.map(({ name, symbol, word }, fate) =>
      number(symbol, word, other.numbers[fate]!, `fate-${name}`));
    return choice('p', other.view.name, other === forest,
      other.view.name, ...numbers, number('!', 'lose data', other.lost, 'loses'));
  });
  fill(find('#policies'), { hidden: forests.length < 2 }, h('legend', 'Policy'), ...policies);
  find<HTMLInputElement>(`#v-${isTable() ? 'table' : 'tree'}`).checked = true;
  const occur = data.states.filter((_, fate) => forest.numbers[fate]! > 0);
  fill(find('#states'), h('legend', 'Show'), ...occur.map((one) => {
    const fate = data.states.indexOf(one);
    return choice('state', one.name, !off.includes(one.name), pill(fate),
      grouped(forest.numbers[fate]!));
  }));
  const legend = occur.map(({ symbol, word, meaning }) => `${symbol} ${word}: ${meaning}`);
  fill(find('#meanings'), legend.join(' · '));
}

/** One of the states, of which several are chosen, or one of others, of which one is. */
function choice(name: string, value: string, checked: boolean, ...parts: Part[]): HTMLElement {
  const type = name === 'state' ? 'checkbox' : 'radio';
  return h('label', h('input', { type, name, value, id: `${name}-${value}`, checked }), ...parts);
}

/** Shows what the bar says. A state that doesn't occur stays as it is. */
function change(): void {
  const said = new FormData(bar);
  const on = said.getAll('state');
  const off = data.states.filter(({ name }, fate) =>
    forest.numbers[fate]! > 0 ? !on.includes(name) : chosen('off').split(' ').includes(name));
  const [p, v] = [said.get('p'), said.get('v')].map(String);
  go({ p: p!, v: v!, q: search.value, off: off.map(({ name }) => name).join(' ') });
}
