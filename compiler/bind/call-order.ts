import { callCycle } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Label } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { CallableUnit } from "./file-scope.ts";

/** Graphs and plans in an order in which each stands after those that it calls, and the calls that would close a cycle. */
export interface CallOrder {
  readonly units: readonly CallableUnit[];
  /** Whether a graph's call of another is part of a cycle and was cut. */
  readonly isCut: (caller: CallableUnit, callee: CallableUnit) => boolean;
}

type Declaration = CallableUnit["declaration"];

interface Call {
  readonly callee: CallableUnit;
  readonly at: Ast.Identifier;
}

/** Orders the given graphs and plans and all that they reach; each cycle is reported (NG116) at the call that closes it. */
export function orderCalls(roots: readonly CallableUnit[], report: (diagnostic: Diagnostic) => void): CallOrder {
  const units: CallableUnit[] = [];
  const state = new Map<Declaration, "open" | "done">();
  const cut = new Map<Declaration, Set<Declaration>>();
  for (const root of roots) {
    if (state.has(root.declaration)) continue;
    const path: { unit: CallableUnit; calls: readonly Call[]; next: number }[] = [];
    const enter = (unit: CallableUnit): void => {
      state.set(unit.declaration, "open");
      path.push({ unit, calls: callsOf(unit), next: 0 });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const call = top.calls[top.next++];
      if (call === undefined) {
        state.set(top.unit.declaration, "done");
        units.push(top.unit);
        path.pop();
        continue;
      }
      const target = call.callee.declaration;
      const known = state.get(target);
      if (known === undefined) enter(call.callee);
      else if (known === "open") {
        const { declaration } = top.unit;
        const targets = cut.get(declaration) ?? new Set();
        cut.set(declaration, targets.add(target));
        report(cycleThrough(path, call));
      }
    }
  }
  return { units, isCut: (caller, callee) => cut.get(caller.declaration)?.has(callee.declaration) ?? false };
}

/** The graphs and plans that the nodes or tasks of one call, the first call of each. */
function callsOf({ declaration, scope }: CallableUnit): readonly Call[] {
  const calls = new Map<Declaration, Call>();
  const add = (call: Ast.Expr): void => {
    if (call.kind !== "Call") return;
    const at = call.callee;
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

function cycleThrough(
  path: readonly { unit: CallableUnit; calls: readonly Call[]; next: number }[],
  closing: Call,
): Diagnostic {
  const from = path.findIndex(({ unit }) => unit.declaration === closing.callee.declaration);
  const cycle = path.slice(from);
  const labels: Label[] = [];
  for (const { unit, calls, next } of cycle.slice(0, -1)) {
    const call = calls[next - 1];
    if (call !== undefined) {
      const message = `\`${unit.declaration.name.name}\` calls \`${call.callee.declaration.name.name}\``;
      labels.push({ file: unit.scope.file.source, span: call.at.span, message });
    }
  }
  const names = [...cycle.map(({ unit }) => unit.declaration.name.name), closing.callee.declaration.name.name];
  const what = closing.callee.declaration.kind === "Plan" ? "plan" : "graph";
  const last = cycle.at(-1)?.unit ?? closing.callee;
  return callCycle({ file: last.scope.file.source, span: closing.at.span }, names, labels.slice(0, 8), what);
}
