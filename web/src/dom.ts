// Elements are made of nodes and text, never of markup.
import { data } from './data.ts';

type Tag = keyof HTMLElementTagNameMap;
type Attributes = Record<string, string | number | boolean | (() => void)>;
/** What an element holds, and its attributes. False is left out; an attribute that does something is an event. */
export type Part = Node | string | false | Attributes;

/** An HTML element by its name, with its classes behind dots. */
export function h<K extends Tag>(name: K | `${K}.${string}`, ...parts: Part[]): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag as K);
  element.className = classes.join(' ');
  fill(element, ...parts);
  return element;
}

/** Replaces what an element holds. What has an id keeps the focus. */
export function fill(element: Element, ...parts: Part[]): void {
  const focused = element.contains(document.activeElement) && document.activeElement!.id;
  element.replaceChildren();
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) {
      element.append(part);
      continue;
    }
    for (const [name, value] of Object.entries(part)) {
      if (typeof value === 'function') element.addEventListener(name, value);
      else if (value !== false) element.setAttribute(name, String(value));
    }
  }
  if (focused) document.getElementById(focused)?.focus();
}

/** The symbol of a state. It is no text: a word stands beside it, which screen readers read and people copy. */
export function symbol(fate: number): HTMLElement {
  return h(`span.symbol.${colour(fate)}`, { 'data-symbol': data.states[fate]!.symbol, 'aria-hidden': 'true' });
}

/** The class of a state. */
export function colour(fate: number): string {
  return `fate-${data.states[fate]!.name}`;
}
