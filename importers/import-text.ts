import { format } from "../grammar/format/format.ts";
import { parse } from "../grammar/parse.ts";
import { parseYamlText } from "../grammar/yaml/parse-yaml-text.ts";
import { importAmazonStates, isAmazonStates } from "./amazon-states.ts";
import { helpForTemplate } from "./cloud-formation.ts";
import { SOURCE_KINDS, type SourceKind } from "./kinds.ts";
import { Changes, comment, ImportError, shortJson, Source, type Imported, type JsonValue } from "./imported.ts";
import { importLangGraphGen, isLangGraphGen } from "./langgraph-gen.ts";
import { importLangGraphJs } from "./langgraph-js.ts";
import type { ReadModule } from "./program-modules.ts";
import { importNeoGraph, isNeoGraph } from "./neograph.ts";
import { lineOfBrokenJson } from "./program-tree.ts";
import { importKahn, importPackageJson, importTurbo, isKahn, isTurbo } from "./plans.ts";

interface Importer {
  /** Whether a JSON or YAML document is of this kind. */
  readonly accepts: (value: JsonValue) => boolean;
  readonly read: (source: Source, name: string, module: string) => Imported;
}

const isPackage = (value: JsonValue): boolean => typeof value === "object" && value !== null && "scripts" in value;

/** The kinds of documents, by the name that `--from` takes. The first that accepts a document reads it. */
const DOCUMENTS: Readonly<Record<Exclude<SourceKind, "langgraph-js">, Importer>> = {
  "amazon-states": { accepts: isAmazonStates, read: importAmazonStates },
  kahn: { accepts: isKahn, read: importKahn },
  "langgraph-gen": { accepts: isLangGraphGen, read: importLangGraphGen },
  "package-json": { accepts: isPackage, read: importPackageJson },
  turbo: { accepts: isTurbo, read: importTurbo },
  neograph: { accepts: isNeoGraph, read: importNeoGraph },
};

export interface ImportSettings {
  /** The name of the graph if the file has none. */
  readonly name: string;
  /** The module of the node functions, as the graph imports it. */
  readonly module: string;
  /** The kind of the file if it is known. */
  readonly kind?: SourceKind;
  /** Reads the modules that a program imports by a relative path. Without it, a state in another file stays unknown. */
  readonly readModule?: ReadModule;
}

/**
 * A file of another system as `.ngraph` text. Nothing of the file runs.
 *
 * @param path decides between a program and a document
 * @throws ImportError with the place of what cannot be imported
 * @example
 * const { text, stubs, changes } = importText(json, "support.json", { name: "support", module: "./support.nodes.ts" });
 */
export async function importText(
  text: string,
  path: string,
  { name, module, kind, readModule }: ImportSettings,
): Promise<Imported> {
  if (text.replace(/^\uFEFF/, "").trim() === "") throw new ImportError("line 1", "the file is empty");
  if (kind === "langgraph-js" || (kind === undefined && /\.[cm]?[jt]sx?$/.test(path)))
    return readable(importLangGraphJs(text, name, module, readModule));
  return readable(importDocument(text, name, module, kind));
}

function importDocument(
  text: string,
  name: string,
  module: string,
  kind: Exclude<SourceKind, "langgraph-js"> | undefined,
): Imported {
  const { value, repeated } = readDocument(text);
  const importer =
    kind === undefined ? Object.values(DOCUMENTS).find(({ accepts }) => accepts(value)) : DOCUMENTS[kind];
  if (importer !== undefined) {
    const imported = importer.read(new Source(value), name, module);
    const notes = new Changes();
    const head = repeated.map(({ key, line }) => {
      const said = notes.add(
        `line ${line}`,
        `the key ${shortJson(key)} is repeated in its object: the last one counts`,
      );
      return `${comment(said)}\n`;
    });
    return { ...imported, text: head.join("") + imported.text, changes: [...notes.list, ...imported.changes] };
  }
  const template = helpForTemplate(value);
  if (template !== undefined) throw new ImportError("$", "the file is a template of CloudFormation", template);
  throw new ImportError(
    "$",
    "the file is of no kind that can be imported",
    `the kinds are ${SOURCE_KINDS.join(", ")}; --from names one`,
  );
}

interface Document {
  readonly value: JsonValue;
  readonly repeated: readonly RepeatedKey[];
}

interface RepeatedKey {
  readonly key: string;
  readonly line: number;
}

/** JSON is YAML, but errors of JSON are more precise, and it is read faster. YAML refuses keys that are repeated. */
function readDocument(text: string): Document {
  const trimmed = text.replace(/^\uFEFF/, "").trimStart();
  if (startsAsJson(trimmed)) {
    try {
      const json = withoutComments(trimmed);
      const value = JSON.parse(json) as JsonValue;
      return { value, repeated: repeatedKeys(json, lineOfOffset(text, text.indexOf(trimmed))) };
    } catch (error) {
      if (error instanceof RangeError) throw new ImportError("line 1", "a text of the file is too long");
      const message = error instanceof Error ? error.message : "";
      throw new ImportError(
        `line ${lineOfBrokenJson(text)}`,
        // The message repeats a part of the text, or has a position in it.
        `the file is not JSON: ${message.replace(/(?:, (?:\.\.\.)?"| in JSON at position )[^]*$/, "")}`,
        /\$\{/.test(text) ? "a template with `${…}` is imported after its parts are filled in" : undefined,
      );
    }
  }
  try {
    return { value: parseYamlText(text) as JsonValue, repeated: [] };
  } catch (error) {
    throw new ImportError(
      "line 1",
      `the file is not YAML: ${error instanceof Error ? error.message.slice(0, 200) : ""}`,
    );
  }
}

/** Whether a text begins with `{` or `[`, behind comments. */
function startsAsJson(text: string): boolean {
  for (let at = 0; ;) {
    while (/\s/.test(text[at] ?? "")) at++;
    const mark = text.slice(at, at + 2);
    if (mark !== "//" && mark !== "/*") return /^[{[]/.test(mark);
    const end = text.indexOf(mark === "//" ? "\n" : "*/", at + 2);
    if (end === -1) return false;
    at = end + (mark === "//" ? 1 : 2);
  }
}

function lineOfOffset(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** The keys that an object of a JSON text has more than once, at their second places. The parser keeps the last value only. */
function repeatedKeys(json: string, firstLine: number): readonly RepeatedKey[] {
  const repeated: RepeatedKey[] = [];
  /** The keys of the objects around; `undefined` for a list. */
  const open: (Set<string> | undefined)[] = [];
  let line = firstLine;
  for (const [part, text, colon] of json.matchAll(/("[^"\\]*(?:\\[^][^"\\]*)*")(\s*:)?|[[\]{}\n]/g)) {
    if (part === "\n") line++;
    else if (part === "{") open.push(new Set());
    else if (part === "[") open.push(undefined);
    else if (part === "}" || part === "]") open.pop();
    else if (text !== undefined && colon !== undefined) {
      const key = text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
      if (open.at(-1)?.has(key) === true) repeated.push({ key, line });
      open.at(-1)?.add(key);
      line += colon.split("\n").length - 1;
    }
  }
  return repeated;
}

/** `turbo.json` may have comments and trailing commas. The lines stay. */
function withoutComments(text: string): string {
  return text.replace(
    /"[^"\\]*(?:\\[^][^"\\]*)*"?|\/\/[^\n]*|\/\*[^*]*(?:\*+(?!\/)[^*]*)*(?:\*\/)?|,(?=\s*[}\]])/g,
    (part) => (part.startsWith('"') ? part : part.replace(/[^\n]+/g, "")),
  );
}

/** The formatted text. A name or a value that the grammar refuses would be a mistake of the importer: it is reported as such. */
async function readable(imported: Imported): Promise<Imported> {
  const { diagnostics } = parse(imported.text);
  const first = diagnostics.find(({ severity }) => severity === "error");
  if (first !== undefined) {
    throw new ImportError("$", `the file has something that the language cannot say: ${first.message}`);
  }
  return { ...imported, text: await format(imported.text) };
}
