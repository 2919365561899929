/** Conditions and choices of edges. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";

/** NG501: no arm matches a value, or the conditions cannot be proven to cover every case. */
export function notExhaustive(
  place: Place,
  facts: {
    /** "`match` on `intent`", "the conditions of `count`". */
    what: string;
    /** Missing values in source form; empty if none can be named. */
    missing: readonly string[];
    help: string;
    fixes: readonly Fix[];
  },
): Diagnostic {
  const shown = facts.missing.slice(0, 5).map((value) => (value.includes("`") ? value : `\`${value}\``));
  const more = facts.missing.length > shown.length ? ` and ${facts.missing.length - shown.length} more` : "";
  const missing = shown.length === 0 ? "" : `: no route for ${shown.join(", ")}${more}`;
  return diagnostic("NG501", place, `not exhaustive: ${facts.what} may select no route${missing}`, {
    label: shown.length === 0 ? "cannot be proven to cover every case" : `no route for ${shown.join(", ")}${more}`,
    help: facts.help,
    fixes: facts.fixes,
  });
}

/** NG515: some numbers satisfy none of the conditions. */
export function conditionGap(
  place: Place,
  facts: { what: string; value: string; help: string; fixes: readonly Fix[] },
): Diagnostic {
  return diagnostic(
    "NG515",
    place,
    `gap between conditions: ${facts.what} may select no route, for example where ${facts.value}`,
    {
      label: `no condition holds where ${facts.value}`,
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

/** NG503: earlier arms match every value of this arm. */
export function shadowedArm(place: Place, facts: { values: readonly string[]; by: Label | undefined }): Diagnostic {
  const message =
    facts.values.length === 0
      ? "this arm is never reached: earlier arms match everything that it matches"
      : `${facts.values.map((value) => `\`${value}\``).join(", ")} ${facts.values.length === 1 ? "is" : "are"} matched by an earlier arm`;
  return diagnostic("NG503", place, message, {
    label: facts.values.length === 0 ? "shadowed" : "never reaches this arm",
    labels: facts.by === undefined ? [] : [facts.by],
    help: "the first arm that matches is taken: reorder the arms, or remove this one",
  });
}

/** NG505: a condition has the same value in every run. */
export function constantCondition(place: Place, facts: { value: boolean; why: string }): Diagnostic {
  return diagnostic("NG505", place, `this condition is always ${String(facts.value)}`, {
    label: facts.why,
    help: facts.value ? "remove the condition, or let it read a channel" : "remove the route, or let it read a channel",
  });
}

/** NG506: all arms of a choice have the same target. */
export function armsAgree(place: Place, facts: { target: string; fixes: readonly Fix[] }): Diagnostic {
  return diagnostic("NG506", place, `all arms lead to ${facts.target}`, {
    label: "makes no difference",
    help: `write a plain edge to ${facts.target}`,
    fixes: facts.fixes,
  });
}

/** NG507: the other arms match every value. */
export function elseNeverReached(place: Place, facts: { word: "else" | "otherwise"; covered: string }): Diagnostic {
  return diagnostic("NG507", place, `\`${facts.word}\` is never reached: ${facts.covered}`, {
    label: "no value remains for it",
    help: "remove it; the compiler then reports a new value that has no route",
  });
}
