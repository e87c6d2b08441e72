// Elements are made of nodes and text, never of markup.
import { look, type Fate } from './picture.ts';

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

/** An HTML element. Texts are escaped; an attribute that is false, null or undefined is left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? '' : visible(String(value)));
  }
  fill(element, ...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: Child[]): void {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (typeof child === 'string' ? visible(child) : child)));
}

/** A button that only does something on this page. */
export function button(text: Child, attributes: Attributes, pressed: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, text);
  element.addEventListener('click', pressed);
  return element;
}

/** The symbol of a state. It is no text: a word stands beside it, which screen readers read and people copy. */
export function symbol(fate: Fate): HTMLElement {
  return h('span', { class: `symbol fate-${fate}`, 'data-symbol': look(fate).symbol, 'aria-hidden': 'true' });
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

/** `1 object`, `2 objects`, `12,000 objects`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** `12,000`, whatever the reader's language is: the page is in English. */
export function grouped(number: number): string {
  return number.toLocaleString('en');
}
