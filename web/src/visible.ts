// Text from a cluster may hold characters that don't show, or that turn the line around them: they are escaped, as in
// the text output.

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const SHORT: Record<number, string> = { 0: '\\0', 9: '\\t', 10: '\\n', 13: '\\r' };

/** The text with every character that is not printed escaped as in Rust: `\n`, `\u{1b}`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return SHORT[code] ?? `\\u{${code.toString(16)}}`;
  });
}

/** `1 object`, `2 objects`, `12,000 objects`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** `12,000`, whatever the reader's language is: the page is in English. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}
