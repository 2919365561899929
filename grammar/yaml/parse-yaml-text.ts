import { Composer, isScalar, visit, type Document } from "yaml";
import { SourceFile } from "../../diagnostics/source.ts";
import { tokensOf } from "./nesting.ts";

/** As the values of JSON texts. */
const DEEPEST_NESTING = 200;

/**
 * The value of a YAML text with one document, for the node `yaml`. Merge keys, tags and repeated keys have no meaning in
 * JSON values and are refused or read as ordinary text.
 *
 * @throws Error for a text that is not YAML, nests too deep, repeats a key, or whose aliases expand to a large value
 */
export function parseYamlText(text: string): unknown {
  const tokens = tokensOf(text, DEEPEST_NESTING);
  if (typeof tokens === "number") throw new Error(`the text nests deeper than ${DEEPEST_NESTING} levels`);
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
  const source = new SourceFile("", text);
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`${problem.message}, at ${placeIn(source, problem.pos[0])}`);
  refuseRepeatedKeys(document, source);
  return document.toJS({ maxAliasCount: 100 });
}

function refuseRepeatedKeys(document: Document, source: SourceFile): void {
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (keys.has(name)) {
          throw new Error(`the key ${JSON.stringify(name)} is repeated, at ${placeIn(source, key.range?.[0] ?? 0)}`);
        }
        keys.add(name);
      }
    },
  });
}

function placeIn(source: SourceFile, offset: number): string {
  const { line, column } = source.position(offset);
  return `line ${line}, column ${column}`;
}
