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

/** Replaces what an element holds. All texts are escaped. */
export function fill(element: Element, ...parts: Part[]): void {
  element.replaceChildren();
  for (const part of parts) {
    if (typeof part === 'string') element.append(visible(part));
    else if (part instanceof Node) element.append(part);
    else {
      for (const [name, value] of Object.entries(part)) {
        if (typeof value === 'function') element.addEventListener(name, value);
        else if (value !== false) element.setAttribute(name, visible(String(value)));
      }
    }
  }
}

/** The symbol of a state. It is no text: a word stands beside it, which screen readers read and people copy. */
export function symbol(fate: number): HTMLElement {
  const { symbol } = data.states[fate]!;
  return h(`span.symbol.${colour(fate)}`, { 'data-symbol': symbol, 'aria-hidden': 'true' });
}

/** The class of a state. */
export function colour(fate: number): string {
  return `fate-${data.states[fate]!.name}`;
}

/** A text of the cluster: its direction of writing stays its own. */
export function bdi(text: string): HTMLElement {
  return h('bdi', text);
}

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
/** By code: a page must not hold the characters themselves. */
const SHORT: Record<number, string> = { 0: '0', 9: 't', 10: 'n', 13: 'r' };

/** The text with every character that is not printed escaped as in Rust: `\n`, `\u{1b}`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => {
    const code = c.codePointAt(0)!;
    return `\\${SHORT[code] ?? `u{${code.toString(16)}}`}`;
  });
}
