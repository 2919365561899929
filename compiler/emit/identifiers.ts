/** Allocates a valid, unique identifier of a generated module for each name from a graph. */

export interface Identifiers {
  /** The name itself if it is free and no keyword, else with `_` appended. */
  allocate(name: string): string;
}

/**
 * Keywords, and the globals that generated code and its types refer to. Names that begin with `$` are reserved for the
 * generator: no name of a graph does.
 */
const TAKEN =
  "break case catch class const continue debugger default delete do else enum export extends false finally for function if " +
  "import in instanceof new null return super switch this throw true try typeof var void while with yield let static " +
  "implements interface package private protected public await async arguments eval as any unknown never string number " +
  "boolean symbol bigint object undefined type namespace module declare abstract is keyof infer readonly unique asserts " +
  "satisfies global require exports";

/** Whether a name of a graph is a valid identifier of the module. */
export function isFreeIdentifier(name: string): boolean {
  return !RESERVED.has(name);
}

const RESERVED: ReadonlySet<string> = new Set(TAKEN.split(" "));

export function createIdentifiers(): Identifiers {
  const taken = new Set(RESERVED);
  return {
    allocate(name) {
      let free = name;
      while (taken.has(free)) free += "_";
      taken.add(free);
      return free;
    },
  };
}

/** The name of a type: `MyGraph` for `my_graph`. */
export function pascalCase(name: string): string {
  const words = name.split("_").filter((word) => word !== "");
  const text = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(text) ? text : `Graph${text}`;
}
