/**
 * The interpreter: an expression becomes closures once, and each evaluation calls them. Nothing is looked up by name at
 * run time: channels are array positions, variables of comprehensions are slots.
 *
 * To add an operation: add it to `Expression`, to `operations.ts`, to `build` here, to `printExpression`, and to
 * `compiler/emit/expression-to-typescript.ts`; the property test in `test/expressions/` then compares the two.
 */
import type { Json } from "../value/json.ts";
import { callFunction, type ExpressionFunction } from "./call-function.ts";
import { ExpressionError, fail } from "./expression-error.ts";
import type { Expression } from "./expression.ts";
import { expressionDepth, expressionParts } from "./expression-depth.ts";
import { buildBinary } from "./compile-binary.ts";
import { isLibraryName, library } from "./library.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import * as operations from "./operations.ts";
import { locateError } from "./locate-error.ts";
import type { ExpressionNames } from "./print-expression.ts";
import { endWork, startWork } from "./work-meter.ts";

/** The values that an expression can read. */
export interface Scope {
  /** Channel values by channel index, as of the snapshot: frozen plain JSON. */
  readonly state: readonly Json[];
  /** The item of a `for`, by name. */
  readonly locals?: ReadonlyMap<string, Json> | undefined;
  /** The failure that an `on error` edge handles; if absent, expressions read `null`. */
  readonly error?: Json | undefined;
  /** How the run has ended; if absent, expressions read `null`. */
  readonly outcome?: Json | undefined;
  readonly secrets?: ReadonlyMap<string, string> | undefined;
}

/** A compiled expression. The value is deeply frozen plain JSON. Throws `ExpressionError` and nothing else. */
export type Evaluate = (scope: Scope) => Json;

export interface ExpressionEnvironment {
  /** Imported functions by function index; a missing one fails where it is called. */
  readonly functions?: readonly (ExpressionFunction | undefined)[];
  /** Names of channels and functions, for messages. */
  readonly names?: ExpressionNames;
  /** Position of the expression: `file:line:column`. */
  readonly place?: string | undefined;
}

/**
 * Compiles an expression. Throws `ExpressionError` `too_large` at once for one nested deeper than `MAX_EXPRESSION_DEPTH`;
 * `loadTable` and the compiler refuse such tables before.
 */
export function compileExpression(expression: Expression, environment: ExpressionEnvironment = {}): Evaluate {
  if (expression.op === "const") {
    const { value } = expression;
    return () => value;
  }
  if (expression.op === "channel") {
    const { channel } = expression;
    return (scope) => scope.state[channel] as Json;
  }
  if (expressionDepth(expression) > MAX_EXPRESSION_DEPTH) {
    throw new ExpressionError("too_large", `the expression nests deeper than ${MAX_EXPRESSION_DEPTH}`);
  }
  const run = build(expression, { functions: environment.functions ?? [], names: environment.names, slots: [] });
  const frame = usesSlots(expression) ? newFrame : noFrame;
  return (scope) => {
    const outer = startWork();
    try {
      return run(scope, frame());
    } catch (error) {
      throw locateError(error, expression, environment);
    } finally {
      endWork(outer);
    }
  };
}

/** An expression as a function of a generated module; `functions` are the table's, by index. */
export type GeneratedExpression = (scope: Scope, functions: readonly (ExpressionFunction | undefined)[]) => Json;

/** A compiled subexpression. The frame belongs to one evaluation. */
export type Run = (scope: Scope, frame: Frame) => Json;

export interface Frame {
  /** Variables of the enclosing comprehensions, outermost first. */
  readonly slots: Json[];
  readonly fuel: operations.Fuel;
}

/** The environment during compilation. */
export interface BuildContext {
  readonly functions: readonly (ExpressionFunction | undefined)[];
  readonly names: ExpressionNames | undefined;
  /** Names of the variables in `Frame.slots`. */
  readonly slots: readonly string[];
}

const EMPTY_FRAME: Frame = Object.freeze({ slots: [], fuel: { left: 0 } });
const noFrame = (): Frame => EMPTY_FRAME;
const newFrame = (): Frame => ({ slots: [], fuel: operations.fuel() });

export function build(expression: Expression, context: BuildContext): Run {
  switch (expression.op) {
    case "const": {
      const { value } = expression;
      return () => value;
    }
    case "channel": {
      const { channel } = expression;
      return (scope) => scope.state[channel] as Json;
    }
    case "local":
      return buildLocal(expression, context);
    case "error":
      return (scope) => scope.error ?? null;
    case "outcome":
      return (scope) => scope.outcome ?? null;
    case "secret": {
      const { name } = expression;
      return (scope) => operations.secret(scope.secrets, name, expression);
    }
    case "member":
      return buildMember(expression, context);
    case "index": {
      const of = build(expression.of, context);
      const at = build(expression.at, context);
      return (scope, frame) => operations.index(of(scope, frame), at(scope, frame), expression);
    }
    case "not": {
      const of = build(expression.of, context);
      return (scope, frame) => !operations.truth(of(scope, frame), expression.of);
    }
    case "negate": {
      const of = build(expression.of, context);
      return (scope, frame) => operations.negate(of(scope, frame), expression);
    }
    case "notNull": {
      const of = build(expression.of, context);
      return (scope, frame) => operations.notNull(of(scope, frame), expression);
    }
    case "fail": {
      const message = build(expression.message, context);
      return (scope, frame) => operations.failWith(message(scope, frame), expression);
    }
    case "binary":
      return buildBinary(expression, build(expression.left, context), build(expression.right, context));
    case "if": {
      const condition = build(expression.condition, context);
      const then = build(expression.then, context);
      const otherwise = build(expression.else, context);
      return (scope, frame) =>
        operations.truth(condition(scope, frame), expression.condition) ? then(scope, frame) : otherwise(scope, frame);
    }
    case "list":
      return buildList(expression, context);
    case "record":
      return buildRecord(expression, context);
    case "template": {
      const parts = expression.parts.map((part) => (typeof part === "string" ? part : build(part, context)));
      return (scope, frame) =>
        operations.concat(
          parts.map((part) => (typeof part === "string" ? part : operations.text(part(scope, frame)))),
          expression,
        );
    }
    case "comprehension":
      return buildComprehension(expression, context);
    case "library":
      return buildLibrary(expression, context);
    case "call": {
      const callee = context.functions[expression.function];
      const name = context.names?.functions[expression.function] ?? `function ${expression.function}`;
      const args = expression.args.map((arg) => build(arg, context));
      return (scope, frame) =>
        callFunction(
          callee,
          args.map((arg) => arg(scope, frame)),
          name,
          expression,
        );
    }
    default:
      return () => fail("unknown_operation", "unknown operation", expression);
  }
}

function buildList(expression: Extract<Expression, { op: "list" }>, context: BuildContext): Run {
  const items = expression.items.map((item) =>
    "spread" in item
      ? { run: build(item.spread, context), isSpread: true }
      : { run: build(item, context), isSpread: false },
  );
  if (!items.some(({ isSpread }) => isSpread)) {
    return (scope, frame) => operations.list(items.map(({ run }) => run(scope, frame)));
  }
  return (scope, frame) =>
    operations.joinLists(
      items.map(({ run, isSpread }) => {
        const value = run(scope, frame);
        return isSpread ? operations.listOf(value, expression) : [value];
      }),
      expression,
    );
}

function buildRecord(expression: Extract<Expression, { op: "record" }>, context: BuildContext): Run {
  const fields = expression.fields.map((field) =>
    "spread" in field
      ? { name: undefined, run: build(field.spread, context) }
      : { name: field.name, run: build(field.value, context) },
  );
  if (fields.some(({ name }) => name === undefined)) {
    // As in generated code, all parts are evaluated before the first is spread.
    return (scope, frame) => {
      const parts = fields.map(({ name, run }): readonly [Json] | readonly [string, Json] =>
        name === undefined ? [run(scope, frame)] : [name, run(scope, frame)],
      );
      return operations.record(parts, expression);
    };
  }
  return (scope, frame) => {
    const result: Record<string, Json> = {};
    for (const { name = "", run } of fields) operations.setField(result, name, run(scope, frame));
    return Object.freeze(result);
  };
}

function buildLocal(expression: Extract<Expression, { op: "local" }>, context: BuildContext): Run {
  const { name } = expression;
  const slot = context.slots.lastIndexOf(name);
  if (slot !== -1) return (_scope, frame) => frame.slots[slot] as Json;
  return (scope) => operations.local(scope.locals, name, expression);
}

function buildMember(expression: Extract<Expression, { op: "member" }>, context: BuildContext): Run {
  const of = build(expression.of, context);
  const { name } = expression;
  const optional = expression.optional === true;
  const absent = expression.absent === true;
  return (scope, frame) => operations.member(of(scope, frame), name, optional, absent, expression);
}

function buildComprehension(expression: Extract<Expression, { op: "comprehension" }>, context: BuildContext): Run {
  const of = build(expression.list, context);
  const slot = context.slots.length;
  const variables = expression.index === undefined ? [expression.item] : [expression.item, expression.index];
  const inner = { ...context, slots: [...context.slots, ...variables] };
  const value = build(expression.value, inner);
  const condition = expression.condition === undefined ? undefined : build(expression.condition, inner);
  return (scope, frame) => {
    const items = of(scope, frame);
    const { slots } = frame;
    return operations.comprehension(
      items,
      frame.fuel,
      condition &&
        ((item, index) => {
          slots[slot] = item;
          slots[slot + 1] = index;
          return condition(scope, frame);
        }),
      (item, index) => {
        slots[slot] = item;
        slots[slot + 1] = index;
        return value(scope, frame);
      },
      expression.flat === true,
      expression,
    );
  };
}

function buildLibrary(expression: Extract<Expression, { op: "library" }>, context: BuildContext): Run {
  const { name } = expression;
  if (!isLibraryName(name)) return () => operations.unknownOperation(name, expression);
  const apply = library[name];
  const args = expression.args.map((arg) => build(arg, context));
  const [only] = args;
  if (args.length === 1 && only !== undefined) return (scope, frame) => apply([only(scope, frame)], expression);
  return (scope, frame) =>
    apply(
      args.map((arg) => arg(scope, frame)),
      expression,
    );
}

/** Whether an evaluation needs a frame: only comprehensions do, and most expressions have none. */
function usesSlots(expression: Expression): boolean {
  return expression.op === "comprehension" || expressionParts(expression).some(usesSlots);
}
