// What stands above the objects and below them: the verdict, the facts, the bar, and the foot.
import { chosen, forest, forests, go, isTable } from './app.ts';
import { data, grouped, textOf, type Section } from './data.ts';
import { fill, h, number, pill, type Part } from './dom.ts';
import { linkTo, named, section } from './story.ts';

/** So many findings have a box; so many sentences are in one, each with so many names. */
const BOXES = 12;
const SENTENCES = 6;
const NAMES = 4;
const KEYS = 'Keys: ↑ ↓ or j k walk, → ← open and close, ← again goes to the owner, Enter ' +
  'toggles, * opens all, / searches, n next that is stuck or loses data, t table, p next policy, ' +
  'Esc back.';

export const head = h('header');
const notes = h('details');
const meanings = h('p');
export const foot = h('footer', notes, h('p', KEYS), meanings);
export const search = h('input', {
  type: 'search', id: 'search', placeholder: 'Search  ( / )', spellcheck: 'false',
  'aria-label': 'Search names, states and reasons',
});
const [policies, views, states] = [h('fieldset'), h('fieldset'), h('fieldset')];
export const found = h('p.quiet.found', { role: 'status' });
// Without a script for it, this method sends nothing.
export const bar = h('form.bar', { method: 'dialog', role: 'search', input: change },
  policies, search, views, states, found);

export function showHead(): void {
  const { name, verdict, reasons, sections, facts } = forest.view;
  const other = `Shown: --propagation=${name}, which is not what the command asked for. `;
  const by = (label: string): Section[] => sections.filter((one) => one.label === label);
  const then = facts.length > 0 ? facts : by('Then');
  fill(head,
    h('p.quiet', ...[data.title, data.source, data.program].flatMap((text, at) =>
      [at > 0 && ' · ', h('bdi', text)])),
    h('h1', verdict !== undefined && pill(verdict.fate, verdict.word), ' ',
      h('bdi', verdict?.sentence ?? data.title)),
    h('p', forest !== forests[data.shown] && other, h('bdi', reasons)),
    h('div.facts', ...findings(), ...by('Lost').map(section), holds(),
      ...[...by('Why'), ...then, ...by('Next')].map(section)));
  fill(notes, { hidden: by('Note').length === 0 },
    h('summary', 'What is assumed, and what could not be read'), ...by('Note').map(section));
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
    const why = forest.cell(line, 'detail');
    by.set(why, [...by.get(why) ?? [], forest.view.rows.object[line]! - 1]);
  }
  const said = [...by].slice(0, SENTENCES).map(([why, objects]) =>
    h('li', ...named(objects, linkTo, NAMES), h('bdi', why && `: ${why}`)));
  // What came of a delete says it, too.
  const isSaid = forest.view.facts.some(({ label }) => label === 'Left Terminating');
  const hidden = isSaid || by.size === 0;
  return h('section', { hidden }, h('h2', 'What holds it up'), h('ul', ...said));
}

/** The policies with their numbers, tree or table, and the states that are shown. */
function showChoices(): void {
  const off = chosen('off').split(' ');
  fill(policies, { hidden: forests.length < 2 }, h('legend', 'Policy'), ...forests.map((other) => {
    const numbers = data.states.map(({ name, symbol, word }, fate) =>
      number(symbol, word, other.numbers[fate]!, `fate-${name}`));
    return choice('p', other.view.name, other === forest,
      other.view.name, ...numbers, number('!', 'lose data', other.lost, 'loses'));
  }));
  fill(views, choice('v', 'tree', !isTable(), 'Tree'), choice('v', 'table', isTable(), 'Table'));
  const occur = data.states.filter((_, fate) => forest.numbers[fate]! > 0);
  fill(states, h('legend', 'Show'), ...occur.map((one) => {
    const fate = data.states.indexOf(one);
    return choice('state', one.name, !off.includes(one.name), pill(fate),
      grouped(forest.numbers[fate]!));
  }));
  const legend = occur.map(({ symbol, word, meaning }) => `${symbol} ${word}: ${meaning}`);
  fill(meanings, legend.join(' · '));
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
