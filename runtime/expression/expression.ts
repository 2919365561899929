/**
 * The expression language after the compiler: a small tree in plain JSON. The evaluator turns it into closures once;
 * generated modules contain the same tree as TypeScript text. Both call the operations of `operations.ts`, so they agree.
 */
import type { Json } from "../value/json.ts";

export type Expression =
  | { readonly op: "const"; readonly value: Json }
  /** The value of a channel in the step's snapshot. */
  | { readonly op: "channel"; readonly channel: number }
  /** The item of a `for`, or the variable of a comprehension. */
  | { readonly op: "local"; readonly name: string }
  /** The failure that an `on error` edge leads away from; `null` on other paths. */
  | { readonly op: "error" }
  /** How the run has ended, in the part of the graph that `finally` leads to; `null` elsewhere. */
  | { readonly op: "outcome" }
  | { readonly op: "secret"; readonly name: string }
  /**
   * A field of a record. A field of `null` is an error, or `null` with `optional` (`?.`). A missing field is an error,
   * or `null` with `absent`, which means that the type declares the field optional.
   */
  | {
      readonly op: "member";
      readonly of: Expression;
      readonly name: string;
      readonly optional?: true;
      readonly absent?: true;
    }
  /** A list's item by position (negative from the end) or a map's value by key; `null` if it does not exist. */
  | { readonly op: "index"; readonly of: Expression; readonly at: Expression }
  /** `not` and `negate`: `!of`, `-of`. `notNull`: the value, or an error where it is `null`. */
  | { readonly op: "not" | "negate" | "notNull"; readonly of: Expression }
  /** Has no value: the evaluation fails with a message, which is a string. */
  | { readonly op: "fail"; readonly message: Expression }
  /** With `int`, both operands have type int, and a result outside the safe integers is an error. */
  | {
      readonly op: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly int?: true;
    }
  | { readonly op: "if"; readonly condition: Expression; readonly then: Expression; readonly else: Expression }
  | { readonly op: "list"; readonly items: readonly (Expression | SpreadPart)[] }
  /** A later field replaces an earlier one of the same name. */
  | {
      readonly op: "record";
      readonly fields: readonly ({ readonly name: string; readonly value: Expression } | SpreadPart)[];
    }
  /** A template: strings are unchanged, other values become JSON. */
  | { readonly op: "template"; readonly parts: readonly (string | Expression)[] }
  /** With `flat`, `value` is a list, and the result has the items of all these lists. */
  | {
      readonly op: "comprehension";
      readonly list: Expression;
      readonly item: string;
      /** The variable that holds the position in `list`. */
      readonly index?: string;
      readonly flat?: true;
      readonly value: Expression;
      readonly condition?: Expression;
    }
  /** A function of the library, by name. */
  | { readonly op: "library"; readonly name: string; readonly args: readonly Expression[] }
  /** A call of an imported function, which must be pure and synchronous. */
  | { readonly op: "call"; readonly function: number; readonly args: readonly Expression[] };

/** All items of another list, or all fields of another record. */
export interface SpreadPart {
  readonly spread: Expression;
}

export type BinaryOperator =
  "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||" | "??" | "in";
