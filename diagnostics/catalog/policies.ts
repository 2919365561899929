/** Values of policies and limits, and policies in the wrong place. */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";

/** NG006: a number or duration that the policy does not allow. */
export function illegalPolicyValue(
  place: Place,
  facts: { message: string; label: string; help?: string | undefined },
): Diagnostic {
  return diagnostic("NG006", place, facts.message, { label: facts.label, help: facts.help });
}

/** NG706: `max parallel` is below 1. */
export function maxParallelBelowOne(place: Place): Diagnostic {
  return diagnostic("NG706", place, "`max parallel` must be at least 1", {
    label: "no task could run",
    help: "remove it to set no limit here",
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
