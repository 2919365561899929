/** What is read of the types of modules: where a type is read, and the named types that have been read. */
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedModule } from "../load/load-module.ts";
import type { TsType } from "./parse-module.ts";
import type { PossibleType } from "./possible-type.ts";

/** The named types of all modules that a compilation reads. */
export interface ReadTypes {
  /** The types that `ref`s name, by name of the `ref`; filled while types are read. */
  readonly table: Map<string, ValueType>;
  /** Types by the module and the name of their declaration. */
  readonly known: Map<string, NamedType>;
  /** The same for types of results, in which `undefined` has another meaning. */
  readonly results: Map<string, NamedType>;
  /** Names of the types that graph files declare. */
  readonly reserved: ReadonlySet<string>;
  /** Names of `ref`s to types of modules. */
  readonly refs: Set<string>;
  /** Imports of graph files by the name of the `ref` that they lead to. Generated code imports these types. */
  readonly imports: Map<string, ImportedType>;
}

/** A type that a graph file imports. */
export interface ImportedType {
  readonly name: string;
  /** The module, as the graph file names it. */
  readonly module: string;
}

/** A declared type. */
export interface NamedType {
  /** The name of the `ref` to this type; `undefined` until a `ref` is needed. */
  ref: string | undefined;
  /** `undefined` while the type is being read. */
  read: PossibleType | undefined;
  /** Whether an item or value in its own declaration may be `undefined`: as a result, it is another type. */
  hasMissing: boolean;
  /** The declared types that its declaration names. */
  readonly parts: Set<NamedType>;
}

/** The context in which a type is read. */
export interface TypeScope {
  readonly types: ReadTypes;
  readonly module: LoadedModule;
  /** The specifier by which a graph file imports the type or function. Opaque types store it. */
  readonly specifier: string;
  /** Type parameters by name, with their constraints. */
  readonly parameters: ReadonlyMap<string, TsType | undefined>;
  readonly depth: number;
  /** The declared type whose declaration is read; absent in a signature. */
  readonly named?: NamedType;
  /**
   * The type is a function's result. `any`, `unknown` and type parameters of the signature are opaque here, because results
   * are checked at run time. The constraint of a type parameter is an upper bound. An item that is `undefined` fails the
   * run, and a value of a map that is `undefined` is dropped.
   */
  readonly isResult?: true;
}

/** A name for a `ref` that no other type has. */
export function freeName(name: string, { reserved, refs }: ReadTypes): string {
  let free = name;
  for (let n = 2; refs.has(free) || reserved.has(free); n++) free = `${name}_${n}`;
  refs.add(free);
  return free;
}
