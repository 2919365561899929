/** Identifiers of a generated module: every name from a graph gets one that TypeScript takes and nothing else has. */

export interface Identifiers {
  /** The name itself where it is free and no word of the language, else with `_` at its end. */
  allocate(name: string): string;
}

/**
 * Words that name no binding in a module, and what generated code or its types would no longer find if something else
 * had their names. Names that begin with `$` are the generator's own: no name of a graph does.
 */
const TAKEN =
  "break case catch class const continue debugger default delete do else enum export extends false finally for function if " +
  "import in instanceof new null return super switch this throw true try typeof var void while with yield let static " +
  "implements interface package private protected public await async arguments eval as any unknown never string number " +
  "boolean symbol bigint object undefined type namespace module declare abstract is keyof infer readonly unique asserts " +
  "satisfies global require exports";

/** Whether a name of a graph can be a binding as it is. */
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

/** `my_graph` as a type writes it: `MyGraph`. */
export function pascalCase(name: string): string {
  const words = name.split("_").filter((word) => word !== "");
  const text = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(text) ? text : `Graph${text}`;
}
