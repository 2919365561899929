import { branchesOf } from "../../compiler/explore/signals.ts";
import type { Routing } from "../../compiler/explore/model.ts";

/** Which way one node went in one step, as a trace tells it. */
export interface Choice {
  /** `own`: along its edges; `error`: it failed, along its `on error` edges; `jump`: a `goto` instead of them. */
  readonly kind: "own" | "error" | "jump";
  /** The branches that are taken, as `GROUP.BRANCH`; see `branchKey`. */
  readonly taken: ReadonlySet<string>;
  readonly goto?: { readonly targets: readonly string[]; readonly exclusive: boolean };
  readonly sends: readonly string[];
}

/** A branch of a routing: the number of its group among those that decide something, and its own in it. */
export function branchKey(group: number, branch: number): string {
  return `${group}.${branch}`;
}

/**
 * Reads what a trace says that a node chose (`"billing"`, `when score < 0.8, send log`, `goto end`) back into the branches of the
 * node's routings. `undefined` when the node has no such choice: the trace is of another graph.
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

/** Matches the labels of branches, parted by commas; labels may hold commas themselves, so this may have to go back. */
function take(routing: Routing, text: string): ReadonlySet<string> | undefined {
  const groups = routing.groups.filter((group) => group.kind !== "always");
  /** What is left of the text behind a label; `undefined` where it does not begin with it. */
  const after = (label: string, rest: string): string | undefined =>
    rest === label ? "" : rest.startsWith(`${label}, `) ? rest.slice(label.length + 2) : undefined;
  const match = (group: number, branch: number, hasSome: boolean, rest: string): readonly string[] | undefined => {
    const current = groups[group];
    if (current === undefined) return rest === "" ? [] : undefined;
    const branches = branchesOf(current);
    const each = branches[branch];
    // A choice takes exactly one branch, if the trace says which; conditional edges any number.
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
