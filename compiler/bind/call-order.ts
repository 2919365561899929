import { callCycle } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Label } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import { depthFirst, type Step } from "../algorithms/depth-first.ts";
import { toolNamesIn } from "./bind-tools.ts";
import type { CallableUnit } from "./file-scope.ts";

/** Graphs and plans, each after those that it calls, and the calls that would close a cycle. */
export interface CallOrder {
  readonly units: readonly CallableUnit[];
  /** Whether a graph's call of another is part of a cycle and was cut. */
  readonly isCut: (caller: CallableUnit, callee: CallableUnit) => boolean;
}

type Declaration = CallableUnit["declaration"];

interface Call {
  readonly callee: CallableUnit;
  readonly at: Pick<Ast.Identifier, "name" | "span">;
}

/**
 * Orders the given graphs and plans and all that they call, in any depth; reports each cycle (NG116) at the call that
 * closes it.
 */
export function orderCalls(roots: readonly CallableUnit[], report: (diagnostic: Diagnostic) => void): CallOrder {
  const units: CallableUnit[] = [];
  const cut = new Map<Declaration, Set<Declaration>>();
  depthFirst(roots, {
    edges: callsOf,
    target: (call) => call.callee,
    leave: (unit) => void units.push(unit),
    onCycle: (cycle) => {
      const closing = cycle.at(-1);
      if (closing === undefined) return;
      const { declaration } = closing.vertex;
      const targets = cut.get(declaration) ?? new Set();
      cut.set(declaration, targets.add(closing.edge.callee.declaration));
      report(describeCycle(cycle, closing));
    },
  });
  return { units, isCut: (caller, callee) => cut.get(caller.declaration)?.has(callee.declaration) ?? false };
}

/** The graphs and plans that the nodes or tasks of a unit call, with the first call of each. */
function callsOf({ declaration, scope }: CallableUnit): readonly Call[] {
  const calls = new Map<Declaration, Call>();
  const add = (call: Ast.Expr): void => {
    if (call.kind !== "Call") return;
    addName(call.callee);
    if (!scope.names.has(call.callee.name)) for (const tool of toolNamesIn(call)) addName(tool);
  };
  const addName = (at: Call["at"]): void => {
    const declared = scope.names.get(at.name);
    if (declared?.kind !== "graph" && declared?.kind !== "plan") return;
    if (!calls.has(declared.unit.declaration)) calls.set(declared.unit.declaration, { callee: declared.unit, at });
  };
  for (const statement of declaration.statements) {
    if (statement.kind !== "Node" && statement.kind !== "Task") continue;
    add(statement.call);
    for (const policy of statement.policies) if (policy.kind === "DoneWhen") add(policy.check);
  }
  return [...calls.values()];
}

function describeCycle(cycle: readonly Step<CallableUnit, Call>[], closing: Step<CallableUnit, Call>): Diagnostic {
  const { callee, at } = closing.edge;
  const labels = cycle.slice(0, -1).map(({ vertex, edge }): Label => ({
    file: vertex.scope.file.source,
    span: edge.at.span,
    message: `\`${vertex.declaration.name.name}\` calls \`${edge.callee.declaration.name.name}\``,
  }));
  const names = [...cycle.map(({ vertex }) => vertex.declaration.name.name), callee.declaration.name.name];
  const what = callee.declaration.kind === "Plan" ? "plan" : "graph";
  return callCycle({ file: closing.vertex.scope.file.source, span: at.span }, names, labels.slice(0, 8), what);
}
