// Every fate has a symbol of its own, so that it shows without colour.
import { h } from './dom.ts';
import { look, type Fate } from './picture.ts';

/** The symbol of a fate. It is no text: a word stands beside it, which screen readers read and people copy. */
export function symbol(fate: Fate): HTMLElement {
  return h('span', { class: `symbol fate-${fate}`, 'data-symbol': look(fate).symbol, 'aria-hidden': 'true' });
}
