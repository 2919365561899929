/** `Retry` and `Catch`, as policies and error edges. */
import { duration, ImportError, quoted, type Source } from "../imported.ts";
import type { Machine, State } from "./machine.ts";
import { lastKey } from "./state-parts.ts";

/** Attempts of a node that Amazon States Language limits by a number only. */
const MOST_TRIES = 1_000;

/** `tries` and `backoff` for the retriers of a state. */
export function policiesOf(state: State, machine: Machine): string[] {
  const retriers = state.source
    .field("Retry")
    .items()
    .map((source) => {
      const amount = (field: string, fallback: number, least: number): number => {
        const { value } = source.field(field);
        if (value === undefined) return fallback;
        if (typeof value !== "number" || !Number.isFinite(value) || value < least)
          throw source.field(field).wrong(`a number from ${least}`);
        return value;
      };
      return {
        source,
        names: errorNames(source),
        retries: Math.min(Math.trunc(amount("MaxAttempts", 3, 0)), MOST_TRIES),
        first: amount("IntervalSeconds", 1, 0) * 1000,
        rate: amount("BackoffRate", 2, 1),
        longest: amount("MaxDelaySeconds", 0, 0) * 1000,
      };
    });
  const retrying = retriers.filter(({ retries }) => retries > 0);
  if (retrying.length === 0) return [];
  const [chosen] = [...retrying].sort((a, b) => b.retries - a.retries);
  const { source, names, retries, first, rate, longest } = chosen!;
  const at = state.source.field("Retry").at;
  if (retriers.length > 1)
    machine.change(at, `a node has one number of attempts: every error counts as ${names.join(", ")} does`);
  else if (!names.includes("States.ALL") && !names.includes("States.TaskFailed"))
    machine.change(
      at,
      `every error is retried, and not only ${names.join(", ")}: an error with \`retryable: false\` is final`,
    );
  if (rate !== 2 && retries > 1)
    machine.change(source.field("BackoffRate").at, `delays double here instead of growing by ${rate}`);
  const last = Math.max(first, longest > 0 ? longest : first * 2 ** Math.min(retries - 1, 30));
  const backoff = first > 0 ? ` backoff ${duration(first)}..${duration(Math.min(last, 31_536_000_000))}` : "";
  return [`tries ${retries + 1}${backoff}`];
}

/** Adds the policies of a Map: how many items run at once, and whether items may fail. */
export function itemPolicies({ source }: State, machine: Machine, policies: string[]): void {
  const most = source.field("MaxConcurrency");
  if (typeof most.value === "number" && Number.isSafeInteger(most.value) && most.value > 0)
    policies.unshift(`max parallel ${most.value}`);
  else if (most.isPresent && most.value !== 0)
    machine.change(most.at, "the number of items that run at once is a constant, and is left out");
  const tolerated = [
    "ToleratedFailurePercentage",
    "ToleratedFailureCount",
    "ToleratedFailurePercentagePath",
    "ToleratedFailureCountPath",
  ]
    .map((field) => source.field(field))
    .find((field) => field.isPresent && field.value !== 0);
  if (tolerated !== undefined) {
    policies.push("allow failure");
    if (tolerated.value !== 100 || lastKey(tolerated) !== "ToleratedFailurePercentage")
      machine.change(tolerated.at, "any number of items may fail");
  }
}

function errorNames(source: Source): readonly string[] {
  const names = source.field("ErrorEquals").texts();
  if (names.length === 0) throw source.field("ErrorEquals").wrong("names of errors");
  if (names.length > 1 && names.includes("States.ALL"))
    throw new ImportError(source.field("ErrorEquals").at, "`States.ALL` stands alone");
  return names;
}

/**
 * The condition of each catcher, behind `on error`. The first catcher that fits takes the error, so a condition excludes those before it.
 * An empty condition holds for all errors. `undefined`: the catchers before take every error.
 */
export function sayErrorNames(catchers: readonly Source[]): readonly (string | undefined)[] {
  const said = new Set<string>();
  const before: string[] = [];
  let isClosed = false;
  return catchers.map((catcher) => {
    const all = errorNames(catcher);
    const names = all.filter((name) => !said.has(name));
    if (isClosed || names.length === 0) return undefined;
    for (const name of names) said.add(name);
    if (names.includes("States.ALL")) {
      isClosed = true;
      return before.length === 0 ? "" : "otherwise";
    }
    const own = names.filter((name) => name !== "States.Timeout" && name !== "States.TaskFailed").map(quoted);
    const tests = [
      ...(own.length === 0
        ? []
        : own.length === 1
          ? [`error.name == ${own[0]}`]
          : [`error.name in [${own.join(", ")}]`]),
      ...(names.includes("States.Timeout") ? [`error.code == "NG_NODE_TIMEOUT"`] : []),
      ...(names.includes("States.TaskFailed") ? [`error.code != "NG_NODE_TIMEOUT"`] : []),
    ];
    const condition = tests.join(" || ");
    const exclusive = before.map((each) => ` && !(${each})`).join("");
    before.push(condition);
    return exclusive === ""
      ? `when ${condition}`
      : `when ${tests.length > 1 ? `(${condition})` : condition}${exclusive}`;
  });
}
