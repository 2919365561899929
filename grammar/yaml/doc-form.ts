import { forbiddenCharacter } from "../../diagnostics/catalog/syntax.ts";
import type { DocComment } from "../ast.ts";
import { complain, placeIn, scalarForm, wrongKind, type Form } from "./form.ts";
import { scalarOffsets } from "./scalar-offsets.ts";

const FORBIDDEN =
  // eslint-disable-next-line no-control-regex -- the pattern looks for control characters
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Documentation (`///` in the text spelling): allows the characters of a comment. */
export const docForm: Form<DocComment> = scalarForm("a text", { type: "string" }, (node, reader) => {
  const { value, span } = node;
  if (typeof value !== "string") return wrongKind(node, reader, "a text", `put it in quotes: "${node.written}"`);
  const found = FORBIDDEN.exec(value);
  if (found !== null) {
    const start = scalarOffsets(reader.reading.text, node)(found.index);
    const hex = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return complain(
      reader,
      forbiddenCharacter(placeIn(reader, { start, end: start + 1 }), {
        character: `the invisible character U+${hex}`,
        why: "is not allowed in documentation",
        help: "delete it",
      }),
    );
  }
  const lines = value.split(/\r\n?|\n/).map((line) => line.trimEnd());
  while (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  return { span, text: lines.join("\n") };
});
