import { branchesOf } from "../../compiler/control/signals.ts";
import type { Routing } from "../../compiler/explore/model.ts";

/** The choice of one node in one step of a trace. */
export interface Choice {
  /** `own`: its own edges; `error`: it failed and takes its `on error` edges; `jump`: a `goto` instead of edges. */
  readonly kind: "own" | "error" | "jump";
  /** The branches that are taken, as keys; see `branchKey`. */
  readonly taken: ReadonlySet<string>;
  readonly goto?: { readonly targets: readonly string[]; readonly exclusive: boolean };
  readonly sends: readonly string[];
}

/** The key `GROUP.BRANCH` of a branch: the index of its group among the conditional groups, and its own index in the group. */
export function branchKey(group: number, branch: number): string {
  return `${group}.${branch}`;
}

/**
 * Parses a node's choice in a trace (`"billing"`, `when score < 0.8, send log`, `goto end`) into the branches of the node's routings.
 * Returns `undefined` if the node has no such choice, because the trace belongs to another graph.
 */
export function readChoice(text: string, own: Routing, onError: Routing | undefined): Choice | undefined {
  const jump = /^(exclusive )?goto (.+)$/.exec(text);
  if (jump !== null) {
    const targets = (jump[2] ?? "").split(", ");
    return { kind: "jump", taken: NONE, sends: [], goto: { targets, exclusive: jump[1] !== undefined } };
  }
  const plain = take(own, text);
  if (plain !== undefined) return { kind: "own", taken: plain, sends: [] };
  if (text === "on error" || text.startsWith("on error, ")) {
    const taken = onError === undefined ? undefined : take(onError, text.slice("on error, ".length));
    if (taken !== undefined) return { kind: "error", taken, sends: [] };
  }
  const send = /^(?:(.*), )?send ([^"`]+)$/s.exec(text);
  const taken = send === null ? undefined : take(own, send[1] ?? "");
  return taken === undefined ? undefined : { kind: "own", taken, sends: (send?.[2] ?? "").split(", ") };
}

const NONE: ReadonlySet<string> = new Set();

/** Matches a list of branch labels, separated by commas. Labels may contain commas, so the match backtracks. */
function take(routing: Routing, text: string): ReadonlySet<string> | undefined {
  const groups = routing.groups.filter((group) => group.kind !== "always");
  /** The text after a label; `undefined` if the text does not start with the label. */
  const after = (label: string, rest: string): string | undefined =>
    rest === label ? "" : rest.startsWith(`${label}, `) ? rest.slice(label.length + 2) : undefined;
  const match = (group: number, branch: number, hasSome: boolean, rest: string): readonly string[] | undefined => {
    const current = groups[group];
    if (current === undefined) return rest === "" ? [] : undefined;
    const branches = branchesOf(current);
    const each = branches[branch];
    // A `one` group takes exactly one branch; conditional edges take any number.
    if (each === undefined || (hasSome && current.kind === "one")) return match(group + 1, 0, false, rest);
    const left = each.label === "" ? undefined : after(each.label, rest);
    const isOtherwise = current.kind === "several" && each === current.otherwise;
    if (left !== undefined && !(isOtherwise && hasSome)) {
      const found = match(group, branch + 1, true, left);
      if (found !== undefined) return [branchKey(group, branch), ...found];
    }
    return match(group, branch + 1, hasSome, rest);
  };
  const found = match(0, 0, false, text);
  return found === undefined ? undefined : new Set(found);
}
