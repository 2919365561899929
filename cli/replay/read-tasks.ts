import type { ControlNode, Routing } from "../../compiler/explore/model.ts";
import { readChoice } from "./read-choice.ts";

/** The behaviour of one task of a node in a step of a trace. Its edges follow from values. */
export interface TaskChoice {
  readonly kind: "own" | "error" | "jump";
  readonly goto?: { readonly targets: readonly string[]; readonly exclusive: boolean };
  readonly sends: readonly string[];
}

const OWN: TaskChoice = { kind: "own", sends: [] };
const ERROR: TaskChoice = { kind: "error", sends: [] };

/**
 * The choices of the tasks of a node in a step: those that the text of the trace names. Several tasks that were sent to
 * one node have one text, `goto a, on error` for example. Returns `undefined` if the node has no such choice.
 */
export function readTasks(text: string, own: Routing, onError: Routing | undefined): readonly TaskChoice[] | undefined {
  const single = readChoice(text, own, onError);
  const failed = /(?:^|, )on error(?:, .*)?$/s.exec(text);
  if (single !== undefined && failed === null) return splitJump(text) ?? [taskOf(single)];
  if (failed !== null) {
    if (onError === undefined) return undefined;
    const before = text.slice(0, failed.index);
    const others = before === "" ? [] : readTasks(before, own, undefined);
    return others === undefined ? undefined : [...others, ERROR];
  }
  const split = splitJump(text);
  if (split !== undefined) return split;
  // Some tasks take edges and others jump: `when ok, goto a, send b`.
  const jump = /^(.*), ((?:exclusive )?goto .+|stop(?:, .*)?)$/s.exec(text);
  if (jump === null || readChoice(jump[1] ?? "", own, undefined) === undefined) return undefined;
  const jumps = splitJump(jump[2] ?? "");
  return jumps === undefined ? undefined : [OWN, ...jumps];
}

function taskOf({ kind, goto, sends }: TaskChoice): TaskChoice {
  return { kind, sends, ...(goto === undefined ? {} : { goto }) };
}

/** A jump with what is sent beside it: `exclusive goto a, send b, c`. */
function splitJump(text: string): readonly TaskChoice[] | undefined {
  const found = /^(?:(exclusive )?goto ([^"`]+?)|stop)(?:, send ([^"`]+))?$/.exec(text);
  if (found === null) return undefined;
  const targets = found[2] === undefined ? ["end"] : found[2].split(", ");
  if (!targets.every((name) => /^\w+$/.test(name))) return undefined;
  return [
    {
      kind: "jump",
      goto: { targets, exclusive: found[1] !== undefined },
      sends: found[3]?.split(", ") ?? [],
    },
  ];
}

/** The possible choices of a task at the end of a trace that leaves them open. */
export function openTasks(node: ControlNode, nameOf: (index: number) => string): readonly TaskChoice[] {
  const jumps = (node.jumps ?? []).map((target): TaskChoice => ({
    kind: "jump",
    sends: [],
    goto: { targets: [nameOf(target)], exclusive: false },
  }));
  return [OWN, ...(node.errorRouting === undefined ? [] : [ERROR]), ...jumps];
}
