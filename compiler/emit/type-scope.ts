import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { typeToTypeScript } from "../types/typescript.ts";
import type { Mark } from "./emit-channel-types.ts";
import type { ModuleSource } from "./emit-module.ts";
import type { Identifiers } from "./identifiers.ts";
import type { ModuleImports } from "./module-imports.ts";
import { docComment } from "./quote.ts";

/** The types of a generated module: their names, and the declarations of those that are needed. */
export interface TypeScope {
  /**
   * The text of a type. `from`: the graph file that uses it. `functions`: the imports of that file. `json`: the text
   * for `json`.
   */
  write(type: ValueType, from: string, functions: readonly FunctionSpec[], json?: string): string;
  /** Declares the file's own types and all that has been written so far. */
  declarations(): readonly string[];
}

/** `exported`: identifiers of the file's own types, by name. */
export function createTypeScope(
  source: ModuleSource,
  exported: ReadonlyMap<string, string>,
  identifiers: Identifiers,
  imports: ModuleImports,
  mark: Mark,
): TypeScope {
  const identifierOf = ownReferences(source, exported);
  const own = new Set(identifierOf.keys());
  /** Named types of other files that have been written, in order, and need a declaration. */
  const needed: string[] = [];
  const named = (name: string): string => {
    const known = identifierOf.get(name);
    if (known !== undefined) return known;
    const imported = source.importedTypes?.get(name);
    if (imported !== undefined) {
      const from = source.importerOf(imported.name, imported.module, source.path);
      return imports.type(imported.name, imported.module, from);
    }
    if (!source.namedTypes.has(name)) return "unknown";
    const identifier = identifiers.allocate(name);
    identifierOf.set(name, identifier);
    needed.push(name);
    return identifier;
  };
  const write: TypeScope["write"] = (type, from, functions, json = "$.Json") =>
    typeToTypeScript(type, {
      json,
      named,
      opaque(name, module) {
        if (module === "") return "unknown";
        const { base, keys } = partsOf(name);
        const returned = /^ReturnType<typeof (\w+)>$/.exec(base)?.[1];
        const spec = functions.find((item) => item.name === returned);
        // A function of another file's graph: this module does not import it.
        if (returned !== undefined && spec === undefined) return "unknown";
        const whole =
          spec === undefined
            ? imports.type(base, module, source.importerOf(base, module, from))
            : `$.ReturnOf<typeof ${imports.value(spec.name, spec.export, spec.module, from)}>`;
        return keys.reduce((type, key) => (key === "!" ? `NonNullable<${type}>` : `$.At<${type}, ${key}>`), whole);
      },
    });
  return {
    write,
    declarations() {
      const texts: string[] = [];
      for (const { name, type, doc, span } of source.types) {
        const identifier = exported.get(name) ?? name;
        const isSelf = type.kind === "ref" && identifierOf.get(type.name) === identifier;
        const body = isSelf ? (source.namedTypes.get(type.name) ?? type) : type;
        const text = write(body, source.path, []);
        texts.push(
          `${docComment(doc)}${identifier === name ? "export " : ""}type ${span === undefined ? identifier : mark(span, identifier)} = ${text};`,
        );
        if (identifier !== name) texts.push(`export type { ${identifier} as ${name} };`);
      }
      // Writing a declaration may add further types.
      for (let name = needed.shift(); name !== undefined; name = needed.shift()) {
        const body = source.namedTypes.get(name);
        if (body === undefined || own.has(name)) continue;
        texts.push(`type ${identifierOf.get(name) ?? name} = ${write(body, source.path, [])};`);
      }
      return texts;
    },
  };
}

/** `Ticket["tags"][number]` is the type `Ticket` and the keys that lead to a part of it. */
function partsOf(name: string): { readonly base: string; readonly keys: readonly string[] } {
  const at = name.indexOf("[");
  if (at === -1) return { base: name, keys: [] };
  const keys = name.slice(at).matchAll(/\[(number|string|!|"(?:[^"\\]|\\.)*")\]/g);
  return { base: name.slice(0, at), keys: [...keys].map(([, key = "number"]) => key) };
}

/**
 * Identifiers of the file's own named types, by the names of their `ref`s. A `ref` has the type's own name, with a
 * number where another file has a type of that name. An alias of a named type is a `ref` with that type's name.
 */
function ownReferences(source: ModuleSource, exported: ReadonlyMap<string, string>): Map<string, string> {
  const identifierOf = new Map<string, string>();
  for (const { name, type } of source.types) {
    if (type.kind !== "ref") continue;
    const isOwn =
      type.name === name || (type.name.startsWith(`${name}_`) && /^\d+$/.test(type.name.slice(name.length + 1)));
    if (isOwn && !identifierOf.has(type.name)) identifierOf.set(type.name, exported.get(name) ?? name);
  }
  return identifierOf;
}
