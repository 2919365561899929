import { Composer, isScalar, Parser, visit, type CST, type Document, type Scalar } from "yaml";
import { nestingOf } from "./nesting.ts";

/** As the values of JSON texts. */
const DEEPEST_NESTING = 200;

/**
 * The value of a YAML text with one document, for the node `yaml`. Merge keys, tags and repeated keys have no meaning in
 * JSON values and are refused or read as ordinary text.
 *
 * @throws Error for a text that is not YAML, nests too deep, repeats a key, or whose aliases expand to a large value
 */
export function parseYamlText(text: string): unknown {
  const tokens: CST.Token[] = [];
  for (const token of new Parser().parse(text)) {
    if (nestingOf(token, DEEPEST_NESTING) !== undefined) {
      throw new Error(`the text nests deeper than ${DEEPEST_NESTING} levels`);
    }
    tokens.push(token);
  }
  // The library's check of repeated keys is quadratic.
  const options = {
    version: "1.2",
    schema: "core",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  } as const;
  const [document, further] = new Composer(options).compose(tokens, true, text.length);
  if (document === undefined) return null;
  if (further !== undefined) throw new Error("the text has several documents");
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`${problem.message}, at ${placeIn(text, problem.pos[0])}`);
  refuseRepeatedKeys(document, text);
  return document.toJS({ maxAliasCount: 100 });
}

function refuseRepeatedKeys(document: Document, text: string): void {
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (keys.has(name)) throw new Error(`the key ${JSON.stringify(name)} is repeated, at ${placeOf(key, text)}`);
        keys.add(name);
      }
    },
  });
}

function placeOf({ range }: Scalar, text: string): string {
  return placeIn(text, range?.[0] ?? 0);
}

function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
