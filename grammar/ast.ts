/**
 * The syntax tree: the content of a file with the span of every part, before names are resolved. Both spellings
 * (`.ngraph` text and YAML) produce it, the formatter and the YAML writer consume it, the compiler reads it.
 *
 * Conventions: every node has a `kind` and the `span` of its text in the file that was read (for YAML: in
 * the YAML text). A statement that cannot be read becomes a `Broken` node, which suppresses consequential
 * errors. Lists are in source order. Comments are in `File.comments`.
 */
import type { SourceFile, Span } from "../diagnostics/source.ts";

export interface Identifier {
  readonly kind: "Identifier";
  readonly span: Span;
  readonly name: string;
}

/** `///` lines above a declaration, without the slashes and one leading space a line. */
export interface DocComment {
  readonly span: Span;
  readonly text: string;
}

/** A `//` or `/*` comment (never `///` documentation); `text` includes the markers. */
export interface Comment {
  readonly kind: "LineComment" | "BlockComment";
  readonly span: Span;
  readonly text: string;
}

export interface File {
  readonly kind: "File";
  readonly span: Span;
  readonly source: SourceFile;
  readonly spelling: "ngraph" | "yaml";
  readonly items: readonly Item[];
  /** In source order. Empty after `parseYaml`; `yamlComments` reads the comments of a YAML text. */
  readonly comments: readonly Comment[];
}

export type Item = ImportDecl | TypeDecl | SecretDecl | ConstDecl | GraphDecl | PlanDecl | TestDecl | Broken;

/** The node of a statement that could not be read. */
export interface Broken {
  readonly kind: "Broken";
  readonly span: Span;
  /** The kind of statement that the first words announce; `other` if they announce none. */
  readonly of:
    | "import"
    | "type"
    | "secret"
    | "const"
    | "derive"
    | "graph"
    | "plan"
    | "test"
    | "channel"
    | "node"
    | "task"
    | "edge"
    | "other";
  /** Names that the unreadable text may declare or use. The compiler reports nothing about them. */
  readonly names: readonly string[];
}

// Files ---------------------------------------------------------------------------------------------

export interface ImportDecl {
  readonly kind: "Import";
  readonly span: Span;
  readonly names: readonly ImportName[];
  readonly from: StringLiteral;
}

export interface ImportName {
  readonly kind: "ImportName";
  readonly span: Span;
  readonly isType: boolean;
  readonly imported: Identifier;
  /** The name in this file; the same object as `imported` without `as`. */
  readonly local: Identifier;
}

export interface TypeDecl {
  readonly kind: "Type";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  readonly type: TypeExpr;
}

export interface SecretDecl {
  readonly kind: "Secret";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
}

/** `const LIMIT = 3` */
export interface ConstDecl {
  readonly kind: "Const";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  readonly value: Expr;
}

// Types ---------------------------------------------------------------------------------------------

export type TypeExpr = NamedType | LiteralType | ListType | MapType | RecordType | UnionType | BrokenType;

/** `string`, `int`, …, or a declared or imported name: the compiler distinguishes them. */
export interface NamedType {
  readonly kind: "NamedType";
  readonly span: Span;
  readonly name: string;
}
/** `"a"`, `-1`, `true`, `null`. */
export interface LiteralType {
  readonly kind: "LiteralType";
  readonly span: Span;
  readonly value: string | number | boolean | null;
  /** Set for a number written with a fraction or an exponent. */
  readonly isFloat?: boolean;
}
export interface ListType {
  readonly kind: "ListType";
  readonly span: Span;
  readonly item: TypeExpr;
}
export interface MapType {
  readonly kind: "MapType";
  readonly span: Span;
  readonly value: TypeExpr;
}
export interface RecordType {
  readonly kind: "RecordType";
  readonly span: Span;
  readonly fields: readonly RecordTypeField[];
}
export interface RecordTypeField {
  readonly kind: "RecordTypeField";
  readonly span: Span;
  readonly name: Key;
  readonly optional: boolean;
  readonly type: TypeExpr;
}
export interface UnionType {
  readonly kind: "UnionType";
  readonly span: Span;
  readonly members: readonly TypeExpr[];
}
export interface BrokenType {
  readonly kind: "BrokenType";
  readonly span: Span;
  /** Names that it may have used: nothing is reported about them. */
  readonly names?: readonly string[];
}

/** A field name: an identifier, a reserved word or a string. */
export interface Key {
  readonly kind: "Key";
  readonly span: Span;
  readonly name: string;
  readonly quoted: boolean;
}

// Graphs --------------------------------------------------------------------------------------------

export interface GraphDecl {
  readonly kind: "Graph";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  /** Earlier names of the graph. */
  readonly was?: readonly Identifier[];
  readonly statements: readonly Statement[];
}

export type Statement =
  ChannelDecl | DeriveDecl | NodeDecl | LimitDecl | DefaultsDecl | AssertDecl | DropDecl | EdgeDecl | Broken;

export interface ChannelDecl {
  readonly kind: "Channel";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly role: "input" | "output" | "state" | "memory" | "config";
  readonly name: Identifier;
  readonly type: TypeExpr;
  readonly initial?: Expr;
  readonly reducer?: Identifier;
  /** Earlier names of the channel. */
  readonly was?: readonly Identifier[];
}

/** `derive open = [t for t in tasks if !t.done]`: a name for an expression, which is evaluated where it is read. */
export interface DeriveDecl {
  readonly kind: "Derive";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  readonly value: Expr;
}

export interface NodeDecl {
  readonly kind: "Node";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  /** The outermost `CallExpr` is the node's call; anything else is a pure expression. */
  readonly call: Expr;
  readonly each?: ForClause;
  readonly output?: Output;
  readonly policies: readonly Policy[];
}

/** `for item, index in list if condition` of a node or a comprehension. */
export interface ForClause {
  readonly kind: "ForClause";
  readonly span: Span;
  readonly item: Identifier;
  /** The position of the item in the list, items that the condition leaves out included. */
  readonly index?: Identifier;
  readonly list: Expr;
  readonly condition?: Expr;
}

export type Output = ChannelOutput | FieldsOutput;
/** `into notes`, `into set notes` */
export interface ChannelOutput {
  readonly kind: "ChannelOutput";
  readonly span: Span;
  /** The value replaces the value of the channel; the reducer does not apply. */
  readonly set?: true;
  readonly channel: Identifier;
}
/** `into { reply?, score: points, notes: set notes }` */
export interface FieldsOutput {
  readonly kind: "FieldsOutput";
  readonly span: Span;
  readonly fields: readonly OutputField[];
}
export interface OutputField {
  readonly kind: "OutputField";
  readonly span: Span;
  /** The field of the node's result. */
  readonly field: Key;
  /** `reply?`: a result without the field leaves the channel as it is. */
  readonly optional?: true;
  /** As in `ChannelOutput`. */
  readonly set?: true;
  /** The channel that receives the field. In the short form it has the name and the span of `field`. */
  readonly channel: Identifier;
}

/** A duration as written and in integer milliseconds. */
export interface Duration {
  readonly kind: "Duration";
  readonly span: Span;
  readonly raw: string;
  readonly milliseconds: number;
}

export interface Count {
  readonly kind: "Count";
  readonly span: Span;
  readonly value: number;
}

/** Policies of nodes and tasks. The compiler checks where each is allowed. */
export type Policy =
  | {
      readonly kind: "Tries";
      readonly span: Span;
      readonly attempts: Count;
      readonly backoff?: { readonly min: Duration; readonly max?: Duration };
    }
  | { readonly kind: "Timeout"; readonly span: Span; readonly duration: Duration }
  | { readonly kind: "Within"; readonly span: Span; readonly duration: Duration }
  | {
      readonly kind: "Cache";
      readonly span: Span;
      readonly duration?: Duration;
      readonly inputs?: readonly StringLiteral[];
      /** Environment variables that a result depends on. */
      readonly variables?: readonly StringLiteral[];
      /** Commands whose output a result depends on: `node --version`. */
      readonly tools?: readonly StringLiteral[];
    }
  | { readonly kind: "MaxParallel"; readonly span: Span; readonly count: Count }
  | { readonly kind: "Waits"; readonly span: Span; readonly nodes: readonly Identifier[] }
  | { readonly kind: "Goes"; readonly span: Span; readonly nodes: readonly Identifier[] }
  /** Earlier names of the node. */
  | { readonly kind: "Was"; readonly span: Span; readonly names: readonly Identifier[] }
  | { readonly kind: "Pause"; readonly span: Span; readonly when: "before" | "after" }
  | { readonly kind: "Idempotent"; readonly span: Span }
  /** The call that undoes a result of the node, with policies of its own: `tries` and `timeout`. */
  | { readonly kind: "Undo"; readonly span: Span; readonly call: Expr; readonly policies: readonly UndoPolicy[] }
  | {
      readonly kind: "Touches";
      readonly span: Span;
      readonly mode: "write" | "read";
      readonly paths: readonly StringLiteral[];
    }
  | { readonly kind: "Alone"; readonly span: Span }
  /** Of a `for` node: the results of the other items are used if some items fail. */
  | { readonly kind: "AllowFailure"; readonly span: Span }
  | { readonly kind: "DoneWhen"; readonly span: Span; readonly check: Expr }
  | { readonly kind: "Pool"; readonly span: Span; readonly name: Identifier; readonly count?: Count }
  | { readonly kind: "Estimate"; readonly span: Span; readonly duration: Duration }
  /** The folder of a task's commands. */
  | { readonly kind: "Cwd"; readonly span: Span; readonly path: Expr }
  /** Further environment variables of a task's commands. */
  | { readonly kind: "Env"; readonly span: Span; readonly values: Expr }
  /** The task has a git worktree of its own. */
  | { readonly kind: "Worktree"; readonly span: Span }
  /** The files that the cache stores with a result and restores with it. */
  | { readonly kind: "Outputs"; readonly span: Span; readonly paths: readonly StringLiteral[] }
  /** The task's command has the terminal. */
  | { readonly kind: "Interactive"; readonly span: Span };

export type UndoPolicy = Extract<Policy, { readonly kind: "Tries" | "Timeout" }>;

export interface LimitDecl {
  readonly kind: "Limit";
  readonly span: Span;
  readonly of: "steps" | "tokens" | "cost" | "parallel";
  /** `none` for no limit (not of `parallel`). The value of `cost` may have a fraction. */
  readonly value: Count | "none";
}

/** `defaults { tries 3  timeout 30s }`: policies of all nodes that do not state their own. */
export interface DefaultsDecl {
  readonly kind: "Defaults";
  readonly span: Span;
  readonly policies: readonly Policy[];
}

export interface AssertDecl {
  readonly kind: "Assert";
  readonly span: Span;
  readonly form: "before" | "once" | "eventually" | "never" | "at";
  /** `a before b`: a. `never a with b`: a. Otherwise the only node. */
  readonly node: Identifier;
  /** `a before b`: b. `never a with b`: b. */
  readonly other?: Identifier;
  /** `a before each b`. */
  readonly each?: true;
  /** Of `condition at a`. */
  readonly condition?: Expr;
}

/** `drop score, notes`: channels of earlier versions, whose values a thread loses. */
export interface DropDecl {
  readonly kind: "Drop";
  readonly span: Span;
  readonly channels: readonly Identifier[];
}

/** One edge statement: a source, a chain of single nodes, and a right side. */
export interface EdgeDecl {
  readonly kind: "Edge";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly source: EdgeSource;
  /** `a -> b -> c -> d`: b and c. */
  readonly chain: readonly Identifier[];
  readonly to: Targets | MatchValue | MatchCondition;
}

export type EdgeSource = NodeList | AllOf;
/** `a` or `any(a, b)`: each node signals the targets. */
export interface NodeList {
  readonly kind: "NodeList";
  readonly span: Span;
  readonly nodes: readonly Identifier[];
}
/** A barrier: `all(a, any(b, c))` or `settled(a, any(b, c))`. */
export interface AllOf {
  readonly kind: "AllOf" | "SettledOf";
  readonly span: Span;
  readonly members: readonly (Identifier | AnyOf)[];
}
export interface AnyOf {
  readonly kind: "AnyOf";
  readonly span: Span;
  readonly nodes: readonly Identifier[];
}

/** `b, c`, with `on error`, `when EXPR` or `otherwise`. */
export interface Targets {
  readonly kind: "Targets";
  readonly span: Span;
  readonly nodes: readonly Identifier[];
  readonly onError: boolean;
  readonly guard?:
    | { readonly kind: "When"; readonly span: Span; readonly condition: Expr }
    | { readonly kind: "Otherwise"; readonly span: Span };
}

/** `match EXPR { "x" | "y" -> b  else -> c }` */
export interface MatchValue {
  readonly kind: "MatchValue";
  readonly span: Span;
  readonly subject: Expr;
  readonly arms: readonly ValueArm[];
}
export interface ValueArm {
  readonly kind: "ValueArm";
  readonly span: Span;
  /** Empty for `else`. */
  readonly patterns: readonly LiteralType[];
  readonly targets: readonly Identifier[];
}

/** `match { x > 9 -> b  else -> c }` */
export interface MatchCondition {
  readonly kind: "MatchCondition";
  readonly span: Span;
  readonly arms: readonly ConditionArm[];
}
export interface ConditionArm {
  readonly kind: "ConditionArm";
  readonly span: Span;
  /** Absent for `else`. */
  readonly condition?: Expr;
  readonly targets: readonly Identifier[];
}

// Expressions ---------------------------------------------------------------------------------------

export type Expr =
  | StringLiteral
  | NumberLiteral
  | BoolLiteral
  | NullLiteral
  | DurationLiteral
  | TemplateExpr
  | ListExpr
  | RecordExpr
  | ComprehensionExpr
  | NameExpr
  | MemberExpr
  | IndexExpr
  | NonNullExpr
  | CallExpr
  | UnaryExpr
  | BinaryExpr
  | ConditionalExpr
  | DerivedExpr
  | BrokenExpr;

export interface StringLiteral {
  readonly kind: "String";
  readonly span: Span;
  readonly value: string;
}
export interface NumberLiteral {
  readonly kind: "Number";
  readonly span: Span;
  readonly value: number;
  /** Written with a fraction or an exponent: `1.0` is a float, `1` an int. */
  readonly isFloat: boolean;
  readonly raw: string;
}
export interface BoolLiteral {
  readonly kind: "Bool";
  readonly span: Span;
  readonly value: boolean;
}
export interface NullLiteral {
  readonly kind: "Null";
  readonly span: Span;
}
export interface DurationLiteral {
  readonly kind: "DurationLiteral";
  readonly span: Span;
  readonly raw: string;
  readonly milliseconds: number;
}
export interface TemplateExpr {
  readonly kind: "Template";
  readonly span: Span;
  /** Text with escapes resolved and common indentation removed, between expressions; at least one part. */
  readonly parts: readonly (TemplateText | Expr)[];
}
export interface TemplateText {
  readonly kind: "TemplateText";
  readonly span: Span;
  readonly value: string;
  /** As written in the source. */
  readonly raw: string;
}
export interface ListExpr {
  readonly kind: "List";
  readonly span: Span;
  readonly items: readonly (Expr | Spread)[];
}
/** `...value` in a list or a record: all items of another list, all fields of another record. */
export interface Spread {
  readonly kind: "Spread";
  readonly span: Span;
  readonly value: Expr;
}
export interface RecordExpr {
  readonly kind: "Record";
  readonly span: Span;
  readonly fields: readonly (RecordField | Spread)[];
}
export interface RecordField {
  readonly kind: "RecordField";
  readonly span: Span;
  readonly name: Key;
  /** For the short form `{ a }` a `NameExpr` with the key's span. */
  readonly value: Expr;
}
/** `[value for item in list if condition for …]` */
export interface ComprehensionExpr {
  readonly kind: "Comprehension";
  readonly span: Span;
  readonly value: Expr;
  /** At least one; the first is the outermost loop. */
  readonly clauses: readonly ForClause[];
}
export interface NameExpr {
  readonly kind: "Name";
  readonly span: Span;
  readonly name: string;
}
export interface MemberExpr {
  readonly kind: "Member";
  readonly span: Span;
  readonly object: Expr;
  readonly property: Identifier;
  /** `?.` */
  readonly optional: boolean;
}
export interface IndexExpr {
  readonly kind: "Index";
  readonly span: Span;
  readonly object: Expr;
  readonly index: Expr;
}
/** `value!`: the value, or an error where it is `null`. */
export interface NonNullExpr {
  readonly kind: "NonNull";
  readonly span: Span;
  readonly object: Expr;
}
export interface CallExpr {
  readonly kind: "Call";
  readonly span: Span;
  readonly callee: Identifier;
  readonly args: readonly Argument[];
}
export interface Argument {
  readonly kind: "Argument";
  readonly span: Span;
  readonly name?: Identifier;
  readonly value: Expr;
}
export interface UnaryExpr {
  readonly kind: "Unary";
  readonly span: Span;
  readonly operator: "!" | "-";
  readonly operand: Expr;
}
export type BinaryOperator =
  "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||" | "??" | "in";
export interface BinaryExpr {
  readonly kind: "Binary";
  readonly span: Span;
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expr;
  readonly right: Expr;
}
export interface ConditionalExpr {
  readonly kind: "Conditional";
  readonly span: Span;
  readonly condition: Expr;
  readonly then: Expr;
  readonly otherwise: Expr;
}
/**
 * A name that `derive` or `const` declares, with its expression. The parser does not create this node. The compiler
 * replaces the name with it.
 */
export interface DerivedExpr {
  readonly kind: "Derived";
  /** Of the name. */
  readonly span: Span;
  readonly name: string;
  readonly value: Expr;
  /** A variable hides a name that `value` reads: what is known about the variable says nothing about `value`. */
  readonly isHidden: boolean;
}
export interface BrokenExpr {
  readonly kind: "BrokenExpr";
  readonly span: Span;
  /** Names that it may have used: nothing is reported about them. */
  readonly names?: readonly string[];
}

// Plans ---------------------------------------------------------------------------------------------

export interface PlanDecl {
  readonly kind: "Plan";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  readonly statements: readonly PlanStatement[];
}

export type PlanStatement = ChannelDecl | TaskDecl | PlanSetting | Broken;

/** `max parallel 3`, `order file`, `pool gpu 2`, `on failure no-new`. */
export type PlanSetting =
  | { readonly kind: "PlanMaxParallel"; readonly span: Span; readonly count: Count }
  | { readonly kind: "PlanOrder"; readonly span: Span; readonly order: "file" }
  | { readonly kind: "PlanPool"; readonly span: Span; readonly name: Identifier; readonly count: Count }
  | { readonly kind: "PlanOnFailure"; readonly span: Span; readonly mode: "continue" | "no-new" | "kill" };

/** What a task waits for in one of the tasks that it comes after: that it is done, has ended, or has failed. */
export type TaskNeed = "all" | "done" | "failed";

/** A variable of a matrix and its values. */
export interface MatrixAxis {
  readonly item: Identifier;
  readonly list: Expr;
}

export interface Matrix extends MatrixAxis {
  /** The variables behind the first one. */
  readonly others?: readonly MatrixAxis[];
}

export interface TaskDecl {
  readonly kind: "Task";
  readonly span: Span;
  readonly doc?: DocComment;
  readonly name: Identifier;
  /** `finally task …`: runs when all other tasks have ended, however they ended. */
  readonly isFinal?: true;
  readonly call: Expr;
  /** `for os in ["linux", "mac"], node in ["20", "22"]`: a matrix of tasks, one for each combination of values. */
  readonly each?: Matrix;
  readonly after: readonly Identifier[];
  /**
   * `after a, b` waits for all to be done; `after any a, b` for one; `after done a, b` for all to have ended; `after failed a, b` for
   * all to have ended, and runs if one has failed. `mixed`: each task of `after` has its own, in `needs`.
   */
  readonly trigger: "all" | "any" | "done" | "failed" | "mixed";
  /** Of a `mixed` trigger, by position in `after`: `after a, done b, failed c`. */
  readonly needs?: readonly TaskNeed[];
  readonly condition?: Expr;
  readonly output?: Output;
  readonly policies: readonly Policy[];
}

// Tests ---------------------------------------------------------------------------------------------

export interface TestDecl {
  readonly kind: "Test";
  readonly span: Span;
  readonly title: StringLiteral;
  readonly subject: Identifier;
  /** `with [{ … }, { … }]`: the test runs once for each case. */
  readonly cases?: Expr;
  readonly items: readonly TestItem[];
}

export type TestItem =
  | { readonly kind: "Given"; readonly span: Span; readonly channel: Identifier; readonly value: Expr }
  /** `mock draft = a then b after 3d` */
  | {
      readonly kind: "Mock";
      readonly span: Span;
      readonly node: Identifier;
      readonly results: readonly Expr[];
      readonly delay?: Duration;
    }
  /** `mock draft fails "message" after 3d` */
  | {
      readonly kind: "MockFails";
      readonly span: Span;
      readonly node: Identifier;
      readonly message: StringLiteral;
      readonly delay?: Duration;
    }
  /** `answer approve = "send" then "again"` */
  | { readonly kind: "Answer"; readonly span: Span; readonly node: Identifier; readonly values: readonly Expr[] }
  /** `signal picked_up = "14:00" then "15:00"`; a string for a name that is not an identifier */
  | {
      readonly kind: "Signal";
      readonly span: Span;
      readonly name: Identifier | StringLiteral;
      readonly values: readonly Expr[];
    }
  | { readonly kind: "ExpectRan"; readonly span: Span; readonly steps: readonly (readonly Identifier[])[] }
  | { readonly kind: "ExpectNeverRan"; readonly span: Span; readonly nodes: readonly Identifier[] }
  | { readonly kind: "ExpectPausedAt"; readonly span: Span; readonly node: Identifier }
  | { readonly kind: "ExpectFailsWith"; readonly span: Span; readonly code: Identifier }
  | { readonly kind: "ExpectUndone"; readonly span: Span; readonly nodes: readonly Identifier[] }
  | { readonly kind: "ExpectStatus"; readonly span: Span; readonly status: Identifier }
  | { readonly kind: "Expect"; readonly span: Span; readonly condition: Expr }
  | Broken;
