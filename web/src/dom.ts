// Elements are made of nodes and text, never of markup.
import { data, grouped } from './data.ts';

type Tag = keyof HTMLElementTagNameMap;
/** What an element holds, and its attributes. False is left out; a function is an event's. */
export type Part = Node | string | false | Record<string, string | number | boolean | (() => void)>;

/** An element of the page, by a selector. */
export function find<E extends HTMLElement = HTMLElement>(selector: string): E {
  return document.querySelector<E>(selector)!;
}

/** An HTML element by its name, with its classes behind dots. */
export function h<K extends Tag>(name: K | `${K}.${string}`, ...parts: Part[]) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag as K);
  element.className = classes.join(' ');
  return fill(element, ...parts);
}

/** Replaces what an element holds. What has an id keeps the focus. */
export function fill<E extends Element>(element: E, ...parts: Part[]): E {
  const focused = element.contains(document.activeElement) && document.activeElement!.id;
  element.replaceChildren();
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) element.append(part);
    else for (const [name, value] of Object.entries(part)) {
      if (typeof value === 'function') element.addEventListener(name, value);
      else if (value === false) element.removeAttribute(name);
      else element.setAttribute(name, String(value));
    }
  }
  if (focused) document.getElementById(focused)?.focus();
  return element;
}

/** A state: its symbol and its word, then its colour and its border. */
export function pill(fate: number, word = data.states[fate]!.word): HTMLElement {
  const { name, symbol } = data.states[fate]!;
  return h(`span.pill.fate-${name}`, h('span', { 'aria-hidden': 'true' }, symbol), ` ${word}`);
}

/** How many objects there are of what a symbol and a word stand for. */
export function number(symbol: string, word: string, of: number, colour: string): Part {
  return of > 0 && h(`span.${colour}`, { title: word }, `${symbol} ${grouped(of)}`,
    h('span.unseen', ` ${word}`));
}
