/** Values of policies and limits, and policies in the wrong place. */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";
import type { Span } from "../source.ts";
import { deletePolicy } from "../fixes/delete-policy.ts";
import { replacement } from "./syntax.ts";

/** NG006: a number or duration that the policy does not allow. */
export function illegalPolicyValue(
  place: Place,
  facts: { message: string; label: string; help?: string | undefined },
): Diagnostic {
  return diagnostic("NG006", place, facts.message, { label: facts.label, help: facts.help });
}

/** NG706: `max parallel` is below 1. */
export function maxParallelBelowOne(place: Place, facts: { of: "graph" | "plan" }): Diagnostic {
  return diagnostic("NG706", place, "`max parallel` must be at least 1", {
    label: "no task could run",
    help: facts.of === "plan" ? "remove it to run at most 4 tasks at once" : "remove it to set no limit here",
  });
}

/** NG117: a node of a graph has a policy of plans. */
export function policyOfPlans(place: Place, facts: { policy: string; help: string }): Diagnostic {
  return diagnostic("NG117", place, `\`${facts.policy}\` is for tasks of a plan, not for nodes of a graph`, {
    label: "has no meaning here",
    help: facts.help,
  });
}

/** NG117: a policy has no effect on the node. */
export function policyWithoutEffect(
  place: Place,
  facts: { policy: string; message: string; help?: string | undefined },
): Diagnostic {
  return diagnostic("NG117", place, facts.message, {
    label: `\`${facts.policy}\` has no effect here`,
    help: facts.help,
  });
}

/** NG117: `defaults` states a policy that belongs to single nodes. */
export function policyOfNodes(place: Place, facts: { policy: string; help: string }): Diagnostic {
  return diagnostic(
    "NG117",
    place,
    `\`${facts.policy}\` cannot be a default: \`defaults\` takes \`tries\` and \`timeout\``,
    {
      label: "a policy of single nodes",
      help: facts.help,
      fixes: [deletePolicy(place)],
    },
  );
}

/** NG620: an `undo` that cannot run. */
export function badUndo(place: Place, facts: { message: string; help: string }): Diagnostic {
  return diagnostic("NG620", place, facts.message, { label: "cannot be undone like this", help: facts.help });
}

/** NG621: `rollback` in a graph without `undo`. */
export function nothingToUndo(place: Place, facts: { graph: string }): Diagnostic {
  return diagnostic("NG621", place, `\`rollback\` undoes nothing: no node of \`${facts.graph}\` has an \`undo\``, {
    label: "ends the run like a failure",
    help: "say how completed work is undone: `node book = reserve(order) into ref { undo cancel(ref) }`",
  });
}

/** NG615: no node uses a default policy. */
export function unusedDefault(place: Place, facts: { policy: string; hasCandidates: boolean }): Diagnostic {
  const { policy, hasCandidates } = facts;
  return diagnostic("NG615", place, `no node uses this default: \`${policy}\``, {
    label: hasCandidates
      ? `each node that it applies to states its own \`${policy}\``
      : "applies to functions, `llm`, `http`, `shell` and `tool`, and no node calls one",
    help: "remove it",
    fixes: [deletePolicy(place)],
  });
}

/** The built-in nodes that wait. */
export type Wait = "ask" | "receive" | "sleep";

const WAITS_FOR: Readonly<Record<Wait, string>> = { ask: "an answer", receive: "a signal", sleep: "a time" };

/** NG612: `timeout`, the limit of one attempt, on a node that waits. */
export function timeoutOfWait(
  place: Place,
  facts: { node: string; call: Wait; keyword: Span; duration: string },
): Diagnostic {
  const { node, call, keyword, duration } = facts;
  const isSleep = call === "sleep";
  return diagnostic("NG612", place, `\`timeout\` limits an attempt, but \`${node}\` waits for ${WAITS_FOR[call]}`, {
    label: isSleep ? "a sleep ends by itself" : "a pause is not an attempt",
    help: isSleep ? "remove it: the argument of `sleep` is its duration" : `write the deadline: \`within ${duration}\``,
    fixes: isSleep ? [deletePolicy(place)] : [replacement("replace with `within`", keyword, "within")],
  });
}

/** NG612: `tries` on a node that waits. */
export function triesOfWait(place: Place, facts: { node: string; call: Wait }): Diagnostic {
  return diagnostic("NG612", place, `\`${facts.node}\` waits for ${WAITS_FOR[facts.call]}, which is not tried again`, {
    label: "has no meaning here",
    help:
      facts.call === "sleep"
        ? "remove it"
        : "remove it; to ask again after the deadline, lead an `on error` edge back to the node",
    fixes: [deletePolicy(place)],
  });
}

/** NG612: `within` on a node that does not wait for an answer or a signal. */
export function withinWithoutWait(
  place: Place,
  facts: { node: string; call: Wait | undefined; keyword: Span; duration: string },
): Diagnostic {
  const { node, call, keyword, duration } = facts;
  const isSleep = call === "sleep";
  return diagnostic(
    "NG612",
    place,
    `\`within\` is the deadline of \`ask\` and \`receive\`, but \`${node}\` calls neither`,
    {
      label: isSleep ? "a sleep ends by itself" : "nothing waits here",
      help: isSleep
        ? "remove it: the argument of `sleep` is its duration"
        : `limit each attempt: \`timeout ${duration}\``,
      fixes: isSleep ? [deletePolicy(place)] : [replacement("replace with `timeout`", keyword, "timeout")],
    },
  );
}
