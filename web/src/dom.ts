// Elements are made of nodes, text and properties, never of markup.
import { data } from './data.ts';

/** What an element holds, and its properties. False is left out. */
export type Part = Node | string | false | Record<string, unknown>;

/** An element of the page, by a selector. */
export const find = <E extends HTMLElement = HTMLElement>(selector: string): E =>
  document.querySelector<E>(selector)!;

/** An HTML element by its name, with its classes behind dots. */
export function h(name: string, ...parts: Part[]): HTMLElement {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag!), { className: classes.join(' ') }, ...parts);
}

/** Replaces what an element holds. What has an id keeps the focus. */
export function fill<E extends Element>(element: E, ...parts: Part[]): E {
  const focused = element.contains(document.activeElement) && document.activeElement!.id;
  element.replaceChildren();
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) element.append(part);
    else Object.assign(element, part);
  }
  if (focused) document.getElementById(focused)?.focus();
  return element;
}

/** Parts with a text between each two. */
export const joined = (parts: Part[], between: string): Part[] =>
  parts.flatMap((part, at) => (at > 0 ? [between, part] : [part]));

/** A state: its symbol and its word, then its colour and its border. */
export function pill(fate: number, word = data.states[fate]!.word): HTMLElement {
  const { tone, symbol } = data.states[fate]!;
  return h(`span.pill.${tone}`, h('span', { ariaHidden: 'true' }, symbol), word && ` ${word}`);
}
