/** Parts of the text spelling that are read on their own, such as an expression in a YAML string. */
import type {
  AssertDecl,
  Duration,
  EdgeDecl,
  EdgeSource,
  Expr,
  ForClause,
  Identifier,
  ImportName,
  LiteralType,
  Output,
  TestItem,
  TypeExpr,
} from "./ast.ts";

/** The kinds of fragments, with the type of their syntax trees. */
export interface Fragments {
  /** `score < 0.8 && rounds < 3`. A `BrokenExpr` where it cannot be read. */
  expression: Expr;
  /** `string[] | null`. A `BrokenType` where it cannot be read. */
  type: TypeExpr;
  /** `all(a, b) -> c`, `a -> match x { … }`. */
  edge: EdgeDecl;
  /** `a, b`, `all(a, any(b, c))`. */
  source: EdgeSource;
  /** `b, c`: names with commas between them. */
  names: Identifier[];
  /** One name. */
  name: Identifier;
  /** `type Ticket`, `rank as rankDocs`. */
  importName: ImportName;
  /** `notes`, `{ reply, score: points }`. */
  output: Output;
  /** `for item, index in list if condition`. */
  forClause: ForClause;
  /** `approve before send`, without `assert`. */
  assert: AssertDecl;
  /** The text after `expect`: `ran a, [b, c]`, `status failed`, or an expression. */
  expect: TestItem;
  /** A line of a test with its first word: `mock draft = a then b`. */
  testItem: TestItem;
  /** `a` or `[a, b]`. */
  step: Identifier[];
  /** `30s` */
  duration: Duration;
  /** `200ms`, `200ms..5s`. */
  backoff: { readonly min: Duration; readonly max?: Duration };
  /** `"a" | -1`; the empty list for `else`. */
  patterns: LiteralType[];
}
