/** The files of the page: one graph file and the TypeScript modules that it imports. */

/** Texts by name, without directories. */
export type ProjectFiles = Readonly<Record<string, string>>;

export interface Project {
  readonly files: ProjectFiles;
  /** The graph file, in the spelling that the reader edits. */
  readonly main: MainName;
}

export const MAIN_NAMES = ["graph.ngraph", "graph.ngraph.yaml"] as const;
export type MainName = (typeof MAIN_NAMES)[number];

/** Characters of all files together. */
export const MAX_TEXT = 200_000;
/** Names of modules. A name is a part of an address and of a path. */
export const MODULE_NAME = /^[\w-]{1,60}\.(?:ts|js|mjs)$/;
const MAX_FILES = 20;

export function otherName(main: MainName): MainName {
  return main === "graph.ngraph" ? "graph.ngraph.yaml" : "graph.ngraph";
}

/** Reads a project from JSON of any origin. @throws Error with a sentence for the reader */
export function readProject(value: unknown): Project {
  if (!isRecord(value) || !isRecord(value["files"])) throw new Error("it has no files");
  const main = MAIN_NAMES.find((name) => name === value["main"]);
  const files = Object.entries(value["files"]);
  if (main === undefined || typeof value["files"][main] !== "string") throw new Error("it has no graph file");
  if (files.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
  const read: Record<string, string> = {};
  let size = 0;
  for (const [name, text] of files) {
    if (name !== main && !MODULE_NAME.test(name))
      throw new Error(`it has a file with the name ${JSON.stringify(name)}`);
    if (typeof text !== "string") throw new Error(`its file ${name} is not a text`);
    size += text.length;
    if (size > MAX_TEXT) throw new Error(`it is longer than ${MAX_TEXT.toLocaleString("en")} characters`);
    read[name] = text;
  }
  return { files: read, main };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
