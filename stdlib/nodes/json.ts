import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * `json(text)`: the value of a JSON text. The engine checks it against the type of the channel that stores it. A text that is
 * not JSON fails the node, and another attempt cannot succeed.
 */
export const json: BuiltinNode = ({ text }) => {
  const source = String(text).replace(/^\uFEFF/, "");
  try {
    return JSON.parse(source) as Json;
  } catch (error) {
    // The rest of the message quotes the text and differs between the versions of Node.
    const position = /at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    const place = position === undefined ? "" : ` (${placeOf(source, Number(position))})`;
    throw new NodeFailure(
      `the text of ${source.length} characters is not JSON${place}: a text with anything around the value, such as ` +
        "a code fence, is none; take the value out before `json` reads it",
      { retryable: false },
    );
  }
};

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
