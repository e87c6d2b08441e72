// The page: reads the picture that stands in it, and shows it.
import { App } from './app.ts';
import { fill, h } from './dom.ts';
import { Drawing } from './drawing.ts';
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
  const drawing = new Drawing(app);
  const live = h('p', { class: 'unseen', role: 'status' });
  const panel = h('div', { id: 'panel', role: 'tabpanel' });
  const nothing = h('p', { class: 'nothing' });
  const aside = h('aside', { class: 'story', 'aria-labelledby': 'story-title' });
  panel.append(tree.list.element, drawing.element, table.list.element, nothing);
  page.append(
    head.element,
    h('main', {}, toolbar.element, toolbar.tabs, h('div', { class: 'split' }, panel, aside)),
    live,
  );

  /** Back to the panel, where the reader came from. */
  const close = (): void => {
    app.go({ at: '' });
    const { tab } = app.state;
    (tab === 'tree' ? tree.list.element : tab === 'table' ? table.list.element
      : drawing.element.querySelector<HTMLElement>('.stage'))?.focus();
  };

  const shell = (): void => {
    const { state, selected, shown, view } = app;
    tree.list.element.hidden = state.tab !== 'tree';
    drawing.element.hidden = state.tab !== 'drawing';
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
    (_, before) => drawing.show(before),
    tell,
  ], live);

  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    const isField = target.matches('input[type=search], select, textarea');
    if (event.key === '/' && !isField) {
      event.preventDefault();
      toolbar.focusSearch();
    } else if (event.key === 'Escape' && app.selected && !isField) close();
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
if (page && picture) {
  try {
    // A browser may have saved the page with what it showed.
    page.replaceChildren();
    start(page, picture.textContent ?? '');
  } catch (error) {
    fill(page, h('p', { class: 'message' }, `This page can't show its picture: ${String(error)}. The text output of ` +
      'kubectl gc says the same; please report this.'));
    throw error;
  }
}
