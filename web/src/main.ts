// The page: reads the picture that stands in it, and shows it.
import { App } from './app.ts';
import { fill, h } from './dom.ts';
import { Head } from './head.ts';
import { readPicture } from './picture.ts';
import { sheet } from './print.ts';
import { story } from './story.ts';
import { Table } from './table.ts';
import { Toolbar } from './toolbar.ts';
import { Tree } from './tree.ts';

function start(page: HTMLElement, text: string): void {
  const app = new App(readPicture(text));
  const head = new Head(app);
  const toolbar = new Toolbar(app);
  const tree = new Tree(app);
  const table = new Table(app);
  const live = h('p', { class: 'unseen', role: 'status' });
  const panel = h('div', { id: 'panel', role: 'tabpanel' });
  const nothing = h('p', { class: 'nothing' });
  const aside = h('aside', { class: 'story', 'aria-labelledby': 'story-title' });
  panel.append(tree.list.element, table.list.element, nothing);
  page.append(
    head.element,
    h('main', {}, toolbar.element, toolbar.tabs, h('div', { class: 'split' }, panel, aside)),
    live,
  );

  /** Back to the panel, where the reader came from. */
  const close = (): void => {
    app.go({ at: '' });
    (app.state.tab === 'tree' ? tree : table).list.element.focus();
  };

  const shell = (): void => {
    const { state, selected, shown, view } = app;
    tree.list.element.hidden = state.tab !== 'tree';
    table.list.element.hidden = state.tab !== 'table' && !state.beside;
    panel.classList.toggle('beside', state.beside && state.tab !== 'table');
    panel.classList.toggle('wordless', !app.forest.hasWords);
    panel.setAttribute('aria-labelledby', `tab-${state.tab}`);
    nothing.hidden = app.lines.length > 0;
    nothing.textContent = shown ? 'Nothing matches: clear the search or the filters.'
      : view.rows.length === 0 ? 'No objects.' : '';
    page.classList.toggle('has-story', selected !== undefined);
  };
  let told: string | undefined;
  const tell = (): void => {
    const now = `${app.state.at} ${app.view.name}`;
    if (told === now) return;
    told = now;
    fill(aside, ...story(app, close));
    aside.scrollTop = 0;
    if (app.selected) app.say(`Story of ${aside.querySelector('h2')?.textContent ?? ''}.`);
  };
  app.start([
    (_, before) => head.show(before),
    (_, before) => toolbar.show(before),
    shell,
    (_, before) => tree.show(before),
    (_, before) => table.show(before),
    tell,
  ], live);

  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    const isField = target.matches('input[type=search], select, textarea');
    if (isField) return;
    const views = app.picture.views;
    const keys: Record<string, () => void> = {
      '/': () => toolbar.focusSearch(),
      n: () => app.selectWorst(),
      t: () => app.go({ tab: app.state.tab === 'tree' ? 'table' : 'tree' }),
      p: () => app.go({ view: views[(views.indexOf(app.view) + 1) % views.length]!.name }),
      Escape: () => (app.selected ? close() : undefined),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  addEventListener('beforeprint', () => {
    document.getElementById('sheet')?.remove();
    page.append(sheet(app));
  });
  addEventListener('afterprint', () => document.getElementById('sheet')?.remove());
  // Lines of a phone are taller.
  matchMedia('(max-width: 720px)').addEventListener('change', () => {
    tree.list.refresh();
    table.list.refresh();
  });
}

const page = document.getElementById('page');
const picture = document.getElementById('picture');
/** Shows the picture. What the text says in its place goes. */
function show(page: HTMLElement, text: string): void {
  try {
    // A browser may have saved the page with what it showed.
    page.replaceChildren();
    start(page, text);
    document.getElementById('text')?.remove();
  } catch (error) {
    fail(page, error);
    throw error;
  }
}

function fail(page: HTMLElement, error: unknown): void {
  fill(page, h('p', { class: 'message' }, `This page can't show its picture: ${String(error)}. The text below says ` +
    'the same; please report this.'));
}

/** A large picture is packed. */
async function unpacked(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

if (page && picture) {
  const text = picture.textContent ?? '';
  if (picture.getAttribute('type') !== 'application/gzip') show(page, text);
  else unpacked(text).then((text) => show(page, text), (error: unknown) => fail(page, error));
}
