/** Values and places of policies and limits (NG006, NG102, NG117, NG706). */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";

/** NG006: a number or duration that a policy cannot have. */
export function illegalPolicyValue(
  place: Place,
  facts: { message: string; label: string; help?: string | undefined },
): Diagnostic {
  return diagnostic("NG006", place, facts.message, { label: facts.label, help: facts.help });
}

/** NG706: no task could ever run. */
export function maxParallelBelowOne(place: Place): Diagnostic {
  return diagnostic("NG706", place, "`max parallel` is at least 1", {
    label: "nothing could ever run",
    help: "leave it out for no bound of its own",
  });
}

/** NG117: a policy of plans on a node of a graph. */
export function policyOfPlans(place: Place, facts: { policy: string; help: string }): Diagnostic {
  return diagnostic("NG117", place, `\`${facts.policy}\` is for tasks of a plan, not for nodes of a graph`, {
    label: "has no meaning here",
    help: facts.help,
  });
}

/** NG117: a policy on a node that it can do nothing for. */
export function policyWithoutEffect(
  place: Place,
  facts: { policy: string; message: string; help?: string | undefined },
): Diagnostic {
  return diagnostic("NG117", place, facts.message, {
    label: `\`${facts.policy}\` has no effect here`,
    help: facts.help,
  });
}
