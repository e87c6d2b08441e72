// Elements are made of nodes and text, never of markup.
import { data } from './data.ts';

export type Child = Node | string | false;
type Attributes = Record<string, string | number | boolean | undefined | (() => void)>;

/** An HTML element. Texts are escaped; an attribute that is false is left out; one that does something is an event. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, visible(String(value)));
  }
  fill(element, ...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: Child[]): void {
  const kept = children.filter((child) => child !== false);
  element.replaceChildren(...kept.map((child) => (typeof child === 'string' ? visible(child) : child)));
}

/** A button that only does something on this page. */
export function button(text: Child, click: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h('button', { type: 'button', click, ...attributes }, text);
}

/** The symbol of a state. It is no text: a word stands beside it, which screen readers read and people copy. */
export function symbol(fate: number): HTMLElement {
  const { symbol } = data.states[fate]!;
  return h('span', { class: `symbol ${colour(fate)}`, 'data-symbol': symbol, 'aria-hidden': 'true' });
}

/** The class of a state. */
export function colour(fate: number): string {
  return `fate-${data.states[fate]!.name}`;
}

/** A text of the cluster: its direction of writing stays its own. */
export function bdi(text: string): HTMLElement {
  return h('bdi', {}, text);
}

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
/** By code: a page must not hold the characters themselves. */
const SHORT: Record<number, string> = { 0: '\\0', 9: '\\t', 10: '\\n', 13: '\\r' };

/** The text with every character that is not printed escaped as in Rust: `\n`, `\u{1b}`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => SHORT[c.codePointAt(0)!] ?? `\\u{${c.codePointAt(0)!.toString(16)}}`);
}
