import { options, type VNode } from "preact";

/** Control characters but those of lines, invisible characters, and those that change the direction of the text around them. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Shows the hidden characters of all texts of the page as escapes: a value in a question must not reorder the text that a person
 * approves. The values of inputs keep them.
 */
export function showHiddenCharacters(): void {
  const { vnode: next } = options;
  options.vnode = (vnode: VNode) => {
    const node = vnode as { type: unknown; props: unknown };
    // The properties of a text node are its text.
    if (node.type === null && typeof node.props === "string") node.props = node.props.replace(HIDDEN, escaped);
    next?.(vnode);
  };
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16).padStart(4, "0")}}`;
}
