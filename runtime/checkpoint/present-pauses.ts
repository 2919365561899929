import type { Checkpoint, PauseItem } from "../interface/checkpoint.ts";
import type { NodeCode, Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import { compileAdmit, Mismatch } from "../value/validate.ts";

/**
 * The pauses of a checkpoint that another version of the graph has written: an answer or a signal is checked against the type that
 * its channel has now. A question keeps the choices that it lists, as long as they all fit that type.
 */
export function presentPauses(program: Program, { digest, pauses, namespace }: Checkpoint): readonly PauseItem[] {
  if (digest === program.table.digest || pauses.length === 0) return pauses;
  const depth = namespace === "" ? 0 : namespace.split("/").length;
  return pauses.map((pause): PauseItem => {
    // Gates and timers have no such type, and functions pass a type of their own.
    if (pause.expects === undefined || (pause.kind !== "interrupt" && pause.kind !== "signal")) return pause;
    const node = nodeOf(program, pause.namespace.slice(depth), pause.node);
    if (node?.call.kind !== "builtin" || hasFittingChoices(pause, node)) return pause;
    const { expects: _, ...rest } = pause;
    return node.expects === undefined ? rest : { ...rest, expects: node.expects };
  });
}

function nodeOf(program: Program, path: readonly string[], name: string): NodeCode | undefined {
  let found: Program | undefined = program;
  for (const task of path) {
    // The `finally` part of a graph is the same graph.
    if (task === "finally") continue;
    const called: Program | undefined = programUnder(found, task);
    if (called === undefined) return undefined;
    found = called;
  }
  return found.nodes[found.nodeIndex.get(name) ?? -1];
}

function hasFittingChoices({ payload }: PauseItem, { expects }: NodeCode): boolean {
  if (typeof payload !== "object" || payload === null || !("choices" in payload)) return false;
  if (expects === undefined) return true;
  const admit = compileAdmit(expects.type, expects.types);
  const { choices } = payload;
  return Array.isArray(choices) && choices.every((choice) => !(admit(choice) instanceof Mismatch));
}
