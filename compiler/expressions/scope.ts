/** The names that an expression may refer to, and the result of typing it. */
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
      /** Set where the type is `T | null` only because the channel may not have been written yet. */
      readonly unwritten?: true;
    }
  | { readonly kind: "local"; readonly type: ValueType }
  | { readonly kind: "secret" }
  | { readonly kind: "error" | "outcome"; readonly type: ValueType }
  /** The name exists or was probably meant; an error about it has been reported. */
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
  | { readonly kind: "node"; readonly isBuiltin?: true }
  | { readonly kind: "poisoned" };

/** The names at one place of a graph. Lookups do not report unknown names; `unknownValue` and `unknownCallee` do. */
export interface Names {
  value(name: string, span: Span): NameBinding | undefined;
  callee(name: string, span: Span): CalleeBinding | undefined;
  /** Reports that no value has this name (NG104), with similar names. */
  unknownValue(name: string, span: Span): void;
  /** Reports that no function has this name (NG510). */
  unknownCallee(name: Ast.Identifier): void;
  /** Reports that a channel which may be unwritten is passed on as it is (NG403, a warning). */
  unwrittenPassedOn(channel: string, span: Span): void;
  /** Records the expression of a derived name. */
  derived?(expression: Expression): void;
  /** Records a check that only `tsc` can make, for the generated module. */
  leaveToTypeScript(check: TypeScriptCheck): void;
}

export interface ExpressionScope {
  readonly file: SourceFile;
  readonly types: TypeTable;
  readonly names: Names;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly suggestions: Suggestions;
  /** Where the expression is, for messages. */
  readonly where: "condition" | "argument";
  /** Variables of `for` and of comprehensions, innermost last. */
  readonly locals: ReadonlyMap<string, ValueType>;
  /** The facts that hold here, those of the innermost conditions included. */
  readonly facts: Facts;
  /** Channels that are read, by name; filled while typing. */
  readonly reads: Set<string>;
  readonly depth: number;
  /** The expression of a derived name, which is typed again at each place that reads it. */
  readonly isDerived?: true;
}

/** The result of typing an expression. */
export interface Typed {
  readonly expression: Expression;
  readonly type: ValueType;
  /** The type before conditions narrowed it. Messages list the values of an enum from it. */
  readonly declared?: ValueType;
  /** The channel because of whose missing write the type includes `null`. */
  readonly unwritten?: string;
  readonly syntax: Ast.Expr;
}

/** Types a part of an expression: `typeExpression`, which rules of other files call back. */
export type TypePart = (syntax: Ast.Expr, scope: ExpressionScope) => Typed;
