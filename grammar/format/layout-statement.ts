import type * as Ast from "../ast.ts";
import { bareList, bracketed, hardline, words, wrap, type Doc } from "./doc-parts.ts";
import { layoutCount, layoutEach, layoutOutput, layoutPolicies, layoutPolicyBlock, names } from "./layout-clauses.ts";
import { layoutEdge } from "./layout-edge.ts";
import { layoutExpression } from "./layout-expression.ts";
import { layoutType } from "./layout-type.ts";
import { stringText } from "./literal-text.ts";
import type { SourceView } from "./source-view.ts";

export type AnyStatement = Ast.Statement | Ast.PlanStatement | Ast.TestItem;

/** One statement of a graph, a plan or a test, without its documentation. */
export function layoutStatement(statement: AnyStatement, source: SourceView): Doc {
  switch (statement.kind) {
    case "Channel":
      return layoutChannel(statement, source);
    case "Node":
      return [
        words("node", statement.name.name, "=", layoutExpression(statement.call, source)),
        layoutEach(statement.each, source),
        layoutOutput(statement.output, source),
        layoutPolicies(statement.policies, source),
      ];
    case "Derive":
      return words("derive", statement.name.name, "=", layoutExpression(statement.value, source));
    case "Limit":
      return words(
        ...(statement.of === "parallel" ? ["max", "parallel"] : ["limit", statement.of]),
        statement.value === "none" ? "none" : layoutCount(statement.value),
      );
    case "Defaults":
      return words("defaults", layoutPolicyBlock(statement.policies, source));
    case "Assert":
      return layoutAssert(statement, source);
    case "Drop":
      return words("drop", names(statement.channels));
    case "Edge":
      return layoutEdge(statement, source);
    case "Task":
      return layoutTask(statement, source);
    case "PlanMaxParallel":
      return words("max", "parallel", layoutCount(statement.count));
    case "PlanOrder":
      return words("order", statement.order);
    case "PlanPool":
      return words("pool", statement.name.name, layoutCount(statement.count));
    case "PlanOnFailure":
      return words("on", "failure", statement.mode === "no-new" ? ["no", "-", "new"] : statement.mode);
    case "Given":
      return words("given", statement.channel.name, "=", layoutExpression(statement.value, source));
    case "Mock":
      return words("mock", statement.node.name, "=", sequence(statement.results, source), ...delay(statement.delay));
    case "MockFails":
      return words(
        "mock",
        statement.node.name,
        "fails",
        stringText(statement.message, source),
        ...delay(statement.delay),
      );
    case "Answer":
      return words("answer", statement.node.name, "=", sequence(statement.values, source));
    case "Signal": {
      const { name } = statement;
      const text = name.kind === "Identifier" ? name.name : stringText(name, source);
      return words("signal", text, "=", sequence(statement.values, source));
    }
    case "ExpectNeverRan":
      return words("expect", "never", "ran", names(statement.nodes));
    case "ExpectPausedAt":
      return words("expect", "paused", "at", statement.node.name);
    case "ExpectFailsWith":
      return words("expect", "fails", "with", statement.code.name);
    case "ExpectUndone":
      return words("expect", "undone", names(statement.nodes));
    case "ExpectRan":
      return words("expect", "ran", trace(statement.steps));
    case "ExpectStatus":
      return words("expect", "status", statement.status.name);
    case "Expect":
      return words("expect", layoutExpression(statement.condition, source));
    case "Broken":
      return source.spelled(statement.span);
  }
}

/** `///` lines above a declaration. */
export function layoutDoc(doc: Ast.DocComment | undefined): Doc {
  if (doc === undefined) return "";
  return doc.text.split("\n").map((text) => [text.trimEnd() === "" ? "///" : `/// ${text.trimEnd()}`, hardline]);
}

function delay(duration: Ast.Duration | undefined): Doc[] {
  return duration === undefined ? [] : ["after", duration.raw];
}

function layoutChannel(channel: Ast.ChannelDecl, source: SourceView): Doc {
  return [
    words(channel.role, [channel.name.name, ":"], layoutType(channel.type, source)),
    channel.initial === undefined ? "" : [wrap(), words("=", layoutExpression(channel.initial, source))],
    channel.reducer === undefined ? "" : [wrap(), words("reduce", channel.reducer.name)],
    channel.was === undefined ? "" : [wrap(), words("was", names(channel.was))],
  ];
}

function layoutAssert({ form, node, other, each, condition }: Ast.AssertDecl, source: SourceView): Doc {
  switch (form) {
    case "at": {
      if (condition === undefined) return words("assert", "at", node.name);
      const text = layoutExpression(condition, source);
      // G3: without parentheses, the name is the word of another assertion.
      const isWord = condition.kind === "Name" && ASSERTION_WORDS.has(condition.name);
      return words("assert", isWord ? ["(", text, ")"] : text, "at", node.name);
    }
    case "before":
      return words("assert", node.name, "before", ...(each === true ? ["each"] : []), other?.name ?? "");
    case "never":
      return words("assert", "never", node.name, "with", other?.name ?? "");
    default:
      return words("assert", form, node.name);
  }
}

const ASSERTION_WORDS: ReadonlySet<string> = new Set(["once", "eventually", "never"]);

function layoutTask(task: Ast.TaskDecl, source: SourceView): Doc {
  return [
    words(
      ...(task.isFinal === true ? ["finally"] : []),
      "task",
      task.name.name,
      "=",
      layoutExpression(task.call, source),
    ),
    layoutEach(task.each, source),
    task.after.length === 0 ? "" : [wrap(), words("after", dependencies(task))],
    task.condition === undefined ? "" : [wrap(), words("when", layoutExpression(task.condition, source))],
    layoutOutput(task.output, source),
    layoutPolicies(task.policies, source),
  ];
}

/** `a, b`, `any a, b`, or `a, done b, failed c` */
function dependencies({ after, trigger, needs }: Ast.TaskDecl): Doc {
  if (trigger === "all") return names(after);
  if (trigger !== "mixed") return words(trigger, names(after));
  return bareList(
    after.map(({ name }, at) => {
      const need = needs?.[at] ?? "all";
      // A word applies to all names behind it.
      return need === "all" || need === needs?.[at - 1] ? name : words(need, name);
    }),
  );
}

/** `a then b` */
function sequence(values: readonly Ast.Expr[], source: SourceView): Doc {
  const [first = "", ...rest] = values.map((value) => layoutExpression(value, source));
  return [first, rest.map((value) => [wrap(), words("then", value)])];
}

function trace(steps: readonly (readonly Ast.Identifier[])[]): Doc {
  const docs = steps.map((step) => {
    const [only] = step;
    if (step.length === 1 && only !== undefined) return only.name;
    return bracketed(
      "[",
      step.map(({ name }) => name),
      "]",
    );
  });
  const [first = "", ...rest] = docs;
  return [first, rest.map((doc) => [",", wrap(), doc])];
}
