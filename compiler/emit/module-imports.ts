import { directoryOf, joinPath, relativeSpecifier } from "../load/paths.ts";
import { quote } from "./quote.ts";
import type { Identifiers } from "./identifiers.ts";

/** Options for the imports of a generated module. */
export interface ImportOptions {
  /** Path of the written module. */
  readonly outPath: string;
  /** `.ts` files are imported as `.js`: for modules that Node or a browser runs. */
  readonly asJavaScript: boolean;
}

/** The imports of a generated module, each name once. */
export interface ModuleImports {
  /** Imports a value of `module`, a specifier in the graph file `from`. Returns its name in the generated module. */
  value(name: string, exported: string, module: string, from: string): string;
  type(exported: string, module: string, from: string): string;
  /** `import` lines. Declarations import values as types; JavaScript does not import types. */
  lines(target: "ts" | "js" | "dts"): readonly string[];
}

export function createModuleImports(identifiers: Identifiers, options: ImportOptions): ModuleImports {
  const values = new Map<string, Map<string, string>>();
  const types = new Map<string, Map<string, string>>();
  const use = (of: Map<string, Map<string, string>>, name: string, exported: string, specifier: string): string => {
    const names = of.get(specifier) ?? new Map<string, string>();
    of.set(specifier, names);
    const local = names.get(exported) ?? identifiers.allocate(name);
    names.set(exported, local);
    return local;
  };
  return {
    value: (name, exported, module, from) => use(values, name, exported, rebase(module, from, options)),
    type: (exported, module, from) => use(types, exported, exported, rebase(module, from, options)),
    lines: (target) => [
      ...write(target === "dts" ? "import type" : "import", values),
      ...(target === "js" ? [] : write("import type", types)),
    ],
  };
}

/** Converts a relative specifier of a graph file to one relative to the generated module. */
function rebase(specifier: string, from: string, { outPath, asJavaScript }: ImportOptions): string {
  if (!/^\.{1,2}(\/|$)/.test(specifier)) return specifier;
  const fromDirectory = directoryOf(from);
  const toDirectory = directoryOf(outPath);
  const moved =
    fromDirectory === toDirectory ? specifier : relativeSpecifier(toDirectory, joinPath(fromDirectory, specifier));
  return asJavaScript ? moved.replace(/\.([cm]?)tsx?$/, ".$1js") : moved;
}

function write(keyword: string, modules: ReadonlyMap<string, ReadonlyMap<string, string>>): readonly string[] {
  return [...modules].map(([specifier, names]) => {
    const list = [...names].map(([exported, local]) => (exported === local ? local : `${exported} as ${local}`));
    return `${keyword} { ${list.join(", ")} } from ${quote(specifier)};`;
  });
}
