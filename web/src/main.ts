// The page: reads the picture that stands in it, and shows it.
import { App } from './app.ts';
import { fill, h } from './dom.ts';
import type { Line } from './forest.ts';
import { head } from './head.ts';
import { header, lineOf } from './lines.ts';
import { List } from './list.ts';
import { useStates, type Picture } from './picture.ts';
import { sheet } from './print.ts';
import { story } from './story.ts';
import { toolbar } from './toolbar.ts';

function start(page: HTMLElement, picture: Picture): void {
  useStates(picture.states);
  const app = new App(picture);
  const live = h('p', { class: 'unseen', role: 'status' });
  app.say = (text) => fill(live, text);
  const { search, bars } = toolbar(app);
  const list = new List({ render: (line) => lineOf(app, line), choose, key });
  const nothing = h('p', { class: 'nothing' });
  const panel = h('div', { id: 'panel', role: 'tabpanel' }, list.element, nothing);
  const aside = h('aside', { class: 'story', 'aria-labelledby': 'story-title' });
  page.append(head(app), h('main', {}, ...bars, h('div', { class: 'split' }, panel, aside)), live);

  /** Opens or closes a line. */
  function toggle(line: Line): void {
    app.forest.setOpen(line, !app.forest.isOpen(line));
    app.go({});
  }

  function choose(line: Line, target: Element): void {
    if (line.isFold || (line.isAbove && target.matches('.twisty'))) toggle(line);
    else app.select(line);
  }

  function key(line: Line, key: string): boolean {
    if (app.isTable) return false;
    const isOpen = app.forest.isOpen(line);
    if (key === '*') {
      app.forest.setAllOpen(true);
      app.go({});
    } else if (key === 'ArrowRight') {
      if (isOpen) list.activate(line.place + 1);
      else if (line.isAbove) toggle(line);
    } else if (key === 'ArrowLeft') {
      if (isOpen) toggle(line);
      else if (line.parent) list.activate(line.parent.place);
    } else {
      return false;
    }
    return true;
  }

  /** Back to the list, where the reader came from. */
  function close(): void {
    app.go({ at: '' });
    list.element.focus();
  }

  app.parts.push((before) => {
    const { state, selected, isTable, forest, lines } = app;
    const isAnew = state.at !== before?.at || state.show !== before.show;
    list.element.id = isTable ? 'table' : 'tree';
    list.element.setAttribute('role', isTable ? 'grid' : 'treegrid');
    list.element.setAttribute('aria-label', isTable ? 'All objects' : 'Owners, and their dependents below them');
    list.show(lines, header(app));
    if (isAnew && selected && lines[selected.place] === selected) list.activate(selected.place);
    panel.classList.toggle('wordless', !forest.hasWords);
    panel.setAttribute('aria-labelledby', `tab-${list.element.id}`);
    nothing.hidden = lines.length > 0;
    fill(nothing, forest.isFiltered ? 'Nothing matches: clear the search or the filters.' : 'No objects.');
    if (before && state.at === before.at && state.view === before.view) return;
    page.classList.toggle('has-story', selected !== undefined);
    fill(aside, ...story(app, close));
    aside.scrollTop = 0;
    if (selected) app.say(`Story of ${aside.querySelector('h2')?.textContent ?? ''}.`);
  });
  app.start();
  // Findings have no sections: the worst one says at once what to do, where there is room.
  const worst = app.nextWorst();
  if (worst && !app.selected && !app.view.sections?.length && innerWidth > 760) app.select(worst, false);

  addEventListener('keydown', (event) => {
    const isInSearch = event.target === search;
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).matches('select')) return;
    const { views } = picture;
    const keys: Record<string, () => void> = isInSearch ? {
      Escape: () => {
        search.value = '';
        app.go({ search: '' }, false);
      },
      Enter: () => {
        app.go({ search: search.value }, false);
        list.element.focus();
        list.activate(app.lines.findIndex((line) => line.matches));
      },
    } : {
      '/': () => {
        search.focus();
        search.select();
      },
      n: () => {
        const worst = app.nextWorst();
        if (worst) app.select(worst);
        else app.say('Nothing is stuck or loses data.');
      },
      t: () => app.go({ show: app.isTable ? '' : 'table' }),
      p: () => app.go({ view: views[(views.indexOf(app.view) + 1) % views.length]?.name ?? '' }),
      Escape: () => app.selected && close(),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  addEventListener('beforeprint', () => page.append(sheet(app)));
  addEventListener('afterprint', () => document.getElementById('sheet')?.remove());
}

/** The picture as text. A large one is packed. */
async function textOf(picture: Element): Promise<string> {
  const text = picture.textContent ?? '';
  if (picture.getAttribute('type') !== 'application/gzip') return text;
  if (!('DecompressionStream' in globalThis)) throw new Error('this browser is too old to unpack it');
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** Shows the picture. The text in its place goes. */
async function show(page: HTMLElement, picture: Element): Promise<void> {
  try {
    const read = JSON.parse(await textOf(picture)) as Picture;
    // A browser may have saved the page with what it showed.
    page.replaceChildren();
    start(page, read);
    document.getElementById('text')?.remove();
  } catch (error) {
    fill(page, h('p', { class: 'message' }, `This page can't show its picture: ${(error as Error).message}. The text ` +
      'below says the same.'));
    throw error;
  }
}

void show(document.getElementById('page')!, document.getElementById('picture')!);
