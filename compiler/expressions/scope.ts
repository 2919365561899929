/** What an expression may refer to, and what typing one yields. */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Suggestions } from "../../diagnostics/similar.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";
import type { TypeTable } from "../types/type-table.ts";
import type { Facts } from "./facts.ts";
import type { TypeScriptCheck } from "./typescript-check.ts";

/** A value's name. */
export type NameBinding =
  | {
      readonly kind: "channel";
      /** Position in `BoundGraph.channels`. */
      readonly index: number;
      readonly type: ValueType;
      /** Where the type is `T | null` only because nothing may have been written yet. */
      readonly unwritten?: true;
    }
  | { readonly kind: "local"; readonly type: ValueType }
  | { readonly kind: "secret" }
  | { readonly kind: "error"; readonly type: ValueType }
  /** Known to exist or to have been meant; an error about it has been reported. */
  | { readonly kind: "poisoned" };

/** A function's name, where an expression calls it. */
export type CalleeBinding =
  | {
      readonly kind: "import";
      readonly spec: FunctionSpec;
      readonly index: number;
      readonly signatures: readonly FunctionSignature[];
    }
  /** A built-in node, a graph or a plan. */
  | { readonly kind: "node" }
  | { readonly kind: "poisoned" };

/** The names of one place in a graph. Lookups report nothing, except that a name is unknown. */
export interface Names {
  value(name: string, span: Span): NameBinding | undefined;
  callee(name: string, span: Span): CalleeBinding | undefined;
  /** Reports that no value has this name (NG104), with what may have been meant. */
  unknownValue(name: string, span: Span): void;
  /** Reports that no function has this name (NG510). */
  unknownCallee(name: Ast.Identifier): void;
  /** A channel that may be `null` for lack of a write is handed on as it is (NG403 as a warning). */
  handedOnUnwritten(channel: string, span: Span): void;
  /** Keeps what only `tsc` can check, for the generated module. */
  leaveToTypeScript(check: TypeScriptCheck): void;
}

export interface ExpressionScope {
  readonly file: SourceFile;
  readonly types: TypeTable;
  readonly names: Names;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly suggestions: Suggestions;
  /** For messages: conditions are pure, arguments too. */
  readonly where: "condition" | "argument";
  /** Variables of `for` and of comprehensions, innermost last. */
  readonly locals: ReadonlyMap<string, ValueType>;
  /** What holds here, innermost conditions included. */
  readonly facts: Facts;
  /** Channels that are read, by name; filled while typing. */
  readonly reads: Set<string>;
  readonly depth: number;
}

/** The result of typing an expression. */
export interface Typed {
  readonly expression: Expression;
  readonly type: ValueType;
  /** Before conditions narrowed it: what an enum's values are listed from. */
  readonly declared?: ValueType;
  /** The channel whose missing write is why `null` is in the type. */
  readonly unwritten?: string;
  readonly syntax: Ast.Expr;
}
