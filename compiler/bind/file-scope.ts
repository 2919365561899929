/** The names of one file: types, secrets, constants, imports, graphs and plans share one namespace. */
import type { Suggestions } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedFile } from "../load/load-project.ts";
import type { LoadedModule } from "../load/load-module.ts";
import type { ConstantLiteral } from "./declare-constants.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";

/** The meaning of a name of a file. */
export type Declared =
  | {
      /** A value of a TypeScript module, or a type of one that was imported without `type`. */
      readonly kind: "import";
      readonly spec: FunctionSpec;
      readonly identifier: Ast.Identifier;
      readonly module: LoadedModule | undefined;
      readonly exported: "value" | "type" | "both";
      /** The type of the same name, where the name may be one: a class, an enum. */
      readonly type: () => ValueType;
      /** Empty where the module does not say what the function takes. */
      readonly signatures: () => readonly FunctionSignature[];
    }
  | { readonly kind: "importedType"; readonly type: ValueType; readonly identifier: Ast.Identifier }
  | { readonly kind: "type"; readonly declaration: Ast.TypeDecl; readonly identifier: Ast.Identifier; type: ValueType }
  | { readonly kind: "secret"; readonly identifier: Ast.Identifier }
  | { readonly kind: "const"; readonly identifier: Ast.Identifier; readonly value: ConstantLiteral }
  | { readonly kind: "graph"; readonly unit: GraphUnit; readonly identifier: Ast.Identifier }
  | { readonly kind: "plan"; readonly unit: PlanUnit; readonly identifier: Ast.Identifier }
  /** An error has been reported about it. */
  | { readonly kind: "broken"; readonly identifier: Ast.Identifier };

/** A graph declaration in its file. */
export interface GraphUnit {
  readonly declaration: Ast.GraphDecl;
  readonly scope: FileScope;
}

/** A plan declaration in its file. */
export interface PlanUnit {
  readonly declaration: Ast.PlanDecl;
  readonly scope: FileScope;
}

/** A declaration with a body of its own, which nodes and tasks call by its name. */
export type CallableUnit = GraphUnit | PlanUnit;

export interface FileScope {
  readonly file: LoadedFile;
  readonly names: ReadonlyMap<string, Declared>;
  /** The graphs of the file; of two with the same name only the first. */
  readonly graphs: readonly GraphUnit[];
  readonly plans: readonly PlanUnit[];
  /** Where each secret is declared. */
  readonly secrets: ReadonlyMap<string, Span>;
  /** Names in statements that could not be parsed. */
  readonly poisoned: Set<string>;
  /** A statement with unknown names could not be parsed: any unknown name may be one of them. */
  readonly hasUnknownNames: boolean;
  /** Local names of imports and secrets that something refers to. */
  readonly used: Set<string>;
  /** Shared by all files of a compilation. */
  readonly suggestions: Suggestions;
}

/** The names of one kind, in source order. */
export function* namesOf(kind: Declared["kind"], scope: FileScope): Iterable<string> {
  for (const [name, declared] of scope.names) if (declared.kind === kind) yield name;
}

export const KIND_NAMES: Readonly<Record<Declared["kind"], string>> = {
  import: "an imported function",
  importedType: "an imported type",
  type: "a type",
  secret: "a secret",
  const: "a constant",
  graph: "a graph",
  plan: "a plan",
  broken: "an import",
};

/** Counts a misspelt name as a use of the name that was probably meant, so that it is not reported as unused. */
export function markMeantAsUsed(similar: string | undefined, scope: FileScope): void {
  if (similar !== undefined) scope.used.add(similar);
}

/** Whether an unknown name of a file must not be reported. */
export function isPoisoned(name: string, scope: FileScope): boolean {
  return scope.hasUnknownNames || scope.poisoned.has(name);
}
