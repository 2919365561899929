/** Conditions and choices: NG501 to NG507 and NG515. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";

/** NG501: a value that no arm takes, or conditions that cannot be shown to cover everything. */
export function notExhaustive(
  place: Place,
  facts: {
    /** "`match` on `intent`", "the conditions of `count`". */
    what: string;
    /** Missing values as they are written; empty where none can be named. */
    missing: readonly string[];
    help: string;
    fixes: readonly Fix[];
  },
): Diagnostic {
  const shown = facts.missing.slice(0, 5).map((value) => (value.includes("`") ? value : `\`${value}\``));
  const more = facts.missing.length > shown.length ? ` and ${facts.missing.length - shown.length} more` : "";
  const missing = shown.length === 0 ? "" : `: nothing for ${shown.join(", ")}${more}`;
  return diagnostic("NG501", place, `not exhaustive: ${facts.what} may lead nowhere${missing}`, {
    label: shown.length === 0 ? "not shown to cover every case" : `no route for ${shown.join(", ")}${more}`,
    help: facts.help,
    fixes: facts.fixes,
  });
}

/** NG515: numbers between conditions. */
export function conditionGap(
  place: Place,
  facts: { what: string; value: string; help: string; fixes: readonly Fix[] },
): Diagnostic {
  return diagnostic(
    "NG515",
    place,
    `gap between conditions: ${facts.what} may lead nowhere, for example where ${facts.value}`,
    {
      label: `nothing holds where ${facts.value}`,
      help: facts.help,
      fixes: facts.fixes,
    },
  );
}

/** NG502: a route whose condition contradicts itself or the types. */
export function routeNeverTaken(place: Place, facts: { condition: string; why: string }): Diagnostic {
  return diagnostic("NG502", place, `this route can never be taken: ${facts.condition} never holds`, {
    label: facts.why,
    help: "change the condition, or remove the route",
  });
}

/** NG503: earlier arms take all that this one could. */
export function shadowedArm(place: Place, facts: { values: readonly string[]; by: Label | undefined }): Diagnostic {
  const message =
    facts.values.length === 0
      ? "this arm is never reached: earlier arms take all that it could"
      : `${facts.values.map((value) => `\`${value}\``).join(", ")} ${facts.values.length === 1 ? "is" : "are"} taken by an earlier arm`;
  return diagnostic("NG503", place, message, {
    label: facts.values.length === 0 ? "shadowed" : "never gets here",
    labels: facts.by === undefined ? [] : [facts.by],
    help: "the first arm that holds is taken: reorder the arms, or remove this one",
  });
}

/** NG505: a condition that does not depend on anything. */
export function constantCondition(place: Place, facts: { value: boolean; why: string }): Diagnostic {
  return diagnostic("NG505", place, `this condition is always ${String(facts.value)}`, {
    label: facts.why,
    help: facts.value
      ? "leave the condition out, or let it ask about a channel"
      : "remove the route, or let it ask about a channel",
  });
}

/** NG506: a choice that makes no difference. */
export function armsAgree(place: Place, facts: { target: string; fixes: readonly Fix[] }): Diagnostic {
  return diagnostic("NG506", place, `all arms lead to ${facts.target}`, {
    label: "makes no difference",
    help: `a plain edge to ${facts.target} says the same`,
    fixes: facts.fixes,
  });
}

/** NG507: nothing is left for `else` or `otherwise`. */
export function elseNeverReached(place: Place, facts: { word: "else" | "otherwise"; covered: string }): Diagnostic {
  return diagnostic("NG507", place, `\`${facts.word}\` is never reached: ${facts.covered}`, {
    label: "nothing is left for it",
    help: "remove it, and the compiler will say so when a new value needs a route",
  });
}
