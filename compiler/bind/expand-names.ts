/**
 * Puts the expressions of derived names and constants in the place of their names, so that types, narrowing, checks,
 * proofs and tables read them as if they were written there. A `DerivedExpr` marks the place.
 */
import { definitionCycle } from "../../diagnostics/catalog/names.ts";
import { tooDeep } from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { axesOf } from "../../grammar/matrix-axes.ts";
import { collectNames } from "./collect-names.ts";
import type { FileScope } from "./file-scope.ts";

/** The most parts of an expression after its names have been replaced. Names may double it at each level. */
export const MOST_PARTS = 5_000;

/** @param variables the variables of `for` around the expression */
export type Expand = (expression: Ast.Expr, variables?: readonly string[]) => Ast.Expr;

export interface ExpansionInput {
  readonly scope: FileScope;
  readonly derived: readonly Ast.DeriveDecl[];
  /** Names of the graph, which hide constants of the file. */
  readonly isOwnName: (name: string) => boolean;
  readonly report: (diagnostic: Diagnostic) => void;
  /** Receives names that cannot be replaced: nothing more is reported about them. */
  readonly poisoned: Set<string>;
}

export interface Expansion {
  readonly expand: Expand;
  /** Derived names that an expression reads. */
  readonly used: ReadonlySet<string>;
}

interface Definition {
  readonly value: Ast.Expr;
  /** All names that it reads, those of the names in it included. */
  readonly names: ReadonlySet<string>;
}

export function createExpansion(input: ExpansionInput): Expansion {
  const { scope, report, poisoned } = input;
  const file = scope.file.source;
  const declarations = new Map(input.derived.map((each) => [each.name.name, each]));
  const known = new Map<string, Definition | undefined>();
  const used = new Set<string>();
  const open: Ast.DeriveDecl[] = [];

  const expand: Expand = (expression, variables = []) => {
    if (!readsDefined(expression)) return expression;
    return replaceNames(expression, variables, replace);
  };
  return { expand, used };

  function readsDefined(expression: Ast.Expr): boolean {
    const names = new Set<string>();
    collectNames(expression, names);
    for (const name of names) if (declarations.has(name) || isConstant(name)) return true;
    return false;
  }

  function isConstant(name: string): boolean {
    return scope.names.get(name)?.kind === "const" && !input.isOwnName(name);
  }

  function replace({ name, span }: Ast.NameExpr, variables: readonly string[]): Ast.Expr | undefined {
    if (variables.includes(name)) return undefined;
    const declaration = declarations.get(name);
    if (declaration !== undefined) {
      used.add(name);
      const definition = definitionOf(declaration);
      if (definition === undefined) return undefined;
      const isHidden = variables.some((variable) => definition.names.has(variable));
      return { kind: "Derived", span, name, value: definition.value, isHidden };
    }
    const declared = isConstant(name) ? scope.names.get(name) : undefined;
    if (declared?.kind !== "const") return undefined;
    scope.used.add(name);
    const value = declared.value(span);
    if (value === undefined) poisoned.add(name);
    return value === undefined ? undefined : { kind: "Derived", span, name, value, isHidden: false };
  }

  function definitionOf(declaration: Ast.DeriveDecl): Definition | undefined {
    const { name } = declaration.name;
    if (known.has(name)) return known.get(name);
    if (open.includes(declaration)) {
      reportCycle(declaration);
      return undefined;
    }
    open.push(declaration);
    const value = expand(declaration.value);
    open.pop();
    const names = new Set<string>();
    collectNames(value, names);
    let definition: Definition | undefined = { value, names };
    if (poisoned.has(name)) definition = undefined;
    else if (countParts(value, MOST_PARTS) > MOST_PARTS) {
      report(tooDeep({ file, span: declaration.name.span }, "operators", MOST_PARTS));
      poisoned.add(name);
      definition = undefined;
    }
    known.set(name, definition);
    return definition;
  }

  function reportCycle(declaration: Ast.DeriveDecl): void {
    const cycle = open.slice(open.indexOf(declaration));
    for (const each of cycle) poisoned.add(each.name.name);
    report(
      cycleOf(
        cycle.map(({ name }) => name),
        file,
      ),
    );
  }
}

/** Reports a cycle of names of one file (NG120): each name reads the next one, and the last one reads the first. */
export function cycleOf(names: readonly Ast.Identifier[], file: SourceFile): Diagnostic {
  const [first] = names;
  const place = { file, span: first?.span ?? { start: 0, end: 0 } };
  return definitionCycle(
    place,
    [...names, ...names.slice(0, 1)].map(({ name }) => name),
  );
}

/** The number of parts of an expression; a number above `most` as soon as it is reached. */
export function countParts(expression: Ast.Expr, most: number): number {
  let count = 0;
  const pending: Ast.Expr[] = [expression];
  for (let next = pending.pop(); next !== undefined && count <= most; next = pending.pop()) {
    count += 1;
    mapParts(next, [], (part) => {
      pending.push(part);
      return part;
    });
  }
  return count;
}

type ReplaceName = (name: Ast.NameExpr, variables: readonly string[]) => Ast.Expr | undefined;

export function replaceNames(expression: Ast.Expr, variables: readonly string[], replace: ReplaceName): Ast.Expr {
  if (expression.kind === "Name") return replace(expression, variables) ?? expression;
  return mapParts(expression, variables, (part, inner) => replaceNames(part, inner, replace));
}

/** The expression with its direct parts replaced. `variables`: those of `for` around a part. */
export function mapParts(
  expression: Ast.Expr,
  variables: readonly string[],
  map: (part: Ast.Expr, variables: readonly string[]) => Ast.Expr,
): Ast.Expr {
  const inner = (part: Ast.Expr): Ast.Expr => map(part, variables);
  const spread = <T extends Ast.Spread | Ast.RecordField>(part: T): T => ({ ...part, value: inner(part.value) });
  switch (expression.kind) {
    case "Template":
      return {
        ...expression,
        parts: expression.parts.map((part) => (part.kind === "TemplateText" ? part : inner(part))),
      };
    case "List":
      return {
        ...expression,
        items: expression.items.map((item) => (item.kind === "Spread" ? spread(item) : inner(item))),
      };
    case "Record":
      return { ...expression, fields: expression.fields.map(spread) };
    case "Comprehension": {
      let around = variables;
      const clauses = expression.clauses.map((clause) => {
        const result = expandFor(clause, around, map);
        around = result.variables;
        return result.clause;
      });
      return { ...expression, clauses, value: map(expression.value, around) };
    }
    case "Member":
    case "NonNull":
      return { ...expression, object: inner(expression.object) };
    case "Index":
      return { ...expression, object: inner(expression.object), index: inner(expression.index) };
    case "Call":
      return {
        ...expression,
        args: expression.args.map((argument) => ({ ...argument, value: inner(argument.value) })),
      };
    case "Unary":
      return { ...expression, operand: inner(expression.operand) };
    case "Binary":
      return { ...expression, left: inner(expression.left), right: inner(expression.right) };
    case "Conditional":
      return {
        ...expression,
        condition: inner(expression.condition),
        then: inner(expression.then),
        otherwise: inner(expression.otherwise),
      };
    case "Derived":
      return { ...expression, value: map(expression.value, []) };
    default:
      return expression;
  }
}

/** A `for` with its list and condition replaced, and the variables of what it repeats. */
export function expandFor(
  clause: Ast.ForClause,
  around: readonly string[],
  expand: (part: Ast.Expr, variables: readonly string[]) => Ast.Expr,
): { readonly clause: Ast.ForClause; readonly variables: readonly string[] } {
  const variables = [...around, clause.item.name, ...(clause.index === undefined ? [] : [clause.index.name])];
  const { condition } = clause;
  return {
    clause: {
      ...clause,
      list: expand(clause.list, around),
      ...(condition === undefined ? {} : { condition: expand(condition, variables) }),
    },
    variables,
  };
}

/** A node with its expressions expanded. */
export function expandNode(node: Ast.NodeDecl, expand: Expand): Ast.NodeDecl {
  if (node.each === undefined) return withUndo(withCall(node, expand(node.call)), expand, []);
  const { clause, variables } = expandFor(node.each, [], expand);
  return withUndo({ ...node, each: clause, call: expand(node.call, variables) }, expand, variables);
}

function withUndo(node: Ast.NodeDecl, expand: Expand, variables: readonly string[]): Ast.NodeDecl {
  if (!node.policies.some(({ kind }) => kind === "Undo")) return node;
  const policies = node.policies.map((policy) =>
    policy.kind === "Undo" ? { ...policy, call: expand(policy.call, variables) } : policy,
  );
  return { ...node, policies };
}

function withCall(node: Ast.NodeDecl, call: Ast.Expr): Ast.NodeDecl {
  return call === node.call ? node : { ...node, call };
}

/** An edge with its conditions expanded. */
export function expandEdge(edge: Ast.EdgeDecl, expand: Expand): Ast.EdgeDecl {
  const { to } = edge;
  switch (to.kind) {
    case "Targets": {
      if (to.guard?.kind !== "When") return edge;
      return { ...edge, to: { ...to, guard: { ...to.guard, condition: expand(to.guard.condition) } } };
    }
    case "MatchValue":
      return { ...edge, to: { ...to, subject: expand(to.subject) } };
    case "MatchCondition": {
      const arms = to.arms.map((arm) =>
        arm.condition === undefined ? arm : { ...arm, condition: expand(arm.condition) },
      );
      return { ...edge, to: { ...to, arms } };
    }
  }
}

/** An assertion with its condition expanded. */
export function expandAssertion(assertion: Ast.AssertDecl, expand: Expand): Ast.AssertDecl {
  return assertion.condition === undefined ? assertion : { ...assertion, condition: expand(assertion.condition) };
}

/** A task with its expressions expanded. */
export function expandTask(task: Ast.TaskDecl, expand: Expand): Ast.TaskDecl {
  const variables = task.each === undefined ? [] : axesOf(task.each).map(({ item }) => item.name);
  return {
    ...task,
    call: expand(task.call, variables),
    ...(task.each === undefined ? {} : { each: expandMatrix(task.each, expand) }),
    ...(task.condition === undefined ? {} : { condition: expand(task.condition, variables) }),
    policies: task.policies.map((policy) =>
      policy.kind === "DoneWhen" ? { ...policy, check: expand(policy.check, variables) } : policy,
    ),
  };
}

function expandMatrix(matrix: Ast.Matrix, expand: Expand): Ast.Matrix {
  const others = matrix.others?.map((axis) => ({ ...axis, list: expand(axis.list) }));
  return { ...matrix, list: expand(matrix.list), ...(others === undefined ? {} : { others }) };
}

/** A channel with its default expanded. */
export function expandChannel(channel: Ast.ChannelDecl, expand: Expand): Ast.ChannelDecl {
  return channel.initial === undefined ? channel : { ...channel, initial: expand(channel.initial) };
}
