/**
 * Random plans with every kind of dependency, condition, matrix and limit run on the real engine, and are resumed. Each task's end is
 * checked against what the ends of the tasks before it allow, and each start against the order and the limits.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryStore, type PlanEvent } from "../../runtime/index.ts";
import { numRuns } from "../support/depth.ts";
import { planTable } from "./compile-plan.ts";
import { textRunner, type Command } from "./run-text.ts";

const WORDS = ["", "done ", "failed "] as const;

interface RandomTask {
  readonly after: readonly number[];
  /** The word for each dependency; `any` for all. */
  readonly words: "any" | readonly number[];
  readonly matrix: "none" | "one" | "two" | "input" | "none in the input" | "both";
  /** The values whose commands fail, and whether they fail again after a resume. */
  readonly fails: readonly string[];
  readonly recovers: boolean;
  readonly allows: boolean;
  readonly isFinally: boolean;
  /** `status(dependency) == end`, by the position of the dependency. */
  readonly when: readonly [position: number, end: string] | null;
  readonly touches: readonly string[];
  readonly alone: boolean;
  readonly pool: boolean;
  readonly takes: number;
}

interface RandomPlan {
  readonly tasks: readonly RandomTask[];
  readonly parallel: number;
  readonly onFailure: "continue" | "no-new" | "kill";
}

const VALUES = ["p", "q"];
const task = (at: number): fc.Arbitrary<RandomTask> =>
  fc.record({
    after: at === 0 ? fc.constant([]) : fc.uniqueArray(fc.integer({ min: 0, max: at - 1 }), { maxLength: 3 }),
    words: fc.oneof(
      { weight: 1, arbitrary: fc.constant("any" as const) },
      { weight: 5, arbitrary: fc.array(fc.constantFrom(0, 0, 1, 2), { minLength: 3, maxLength: 3 }) },
    ),
    matrix: fc.constantFrom("none", "none", "none", "one", "two", "input", "none in the input", "both"),
    fails: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.subarray(["", "p", "q", "pp", "qp"]) },
    ),
    recovers: fc.boolean(),
    allows: fc.nat({ max: 2 }).map((dice) => dice === 0),
    isFinally: fc.nat({ max: 6 }).map((dice) => dice === 0),
    when: fc.option(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom("done", "failed", "skipped", "blocked")), {
      freq: 3,
    }),
    touches: fc.uniqueArray(fc.constantFrom("src/**", "src/a.ts", "b.ts"), { maxLength: 2 }),
    alone: fc.nat({ max: 9 }).map((dice) => dice === 0),
    pool: fc.nat({ max: 4 }).map((dice) => dice === 0),
    takes: fc.integer({ min: 1, max: 4 }),
  });

const plans: fc.Arbitrary<RandomPlan> = fc.integer({ min: 2, max: 9 }).chain((count) =>
  fc.record({
    tasks: fc.tuple(...Array.from({ length: count }, (_, at) => task(at))).map(withFinallyLast),
    parallel: fc.integer({ min: 1, max: 4 }),
    onFailure: fc.constantFrom(
      "continue" as const,
      "continue" as const,
      "continue" as const,
      "no-new" as const,
      "kill" as const,
    ),
  }),
);

/** Only `finally` tasks come after `finally` tasks, and their dependencies are plain. One task at least is none. */
function withFinallyLast(tasks: readonly RandomTask[]): readonly RandomTask[] {
  return tasks.map((each, at) => {
    const isFinally = each.isFinally && at > 0;
    const after = isFinally
      ? each.after
      : each.after.filter((before) => !(tasks[before]?.isFinally === true && before > 0));
    return {
      ...each,
      isFinally,
      after,
      matrix: isFinally ? "none" : each.matrix,
      words: isFinally ? [0, 0, 0] : each.words,
    };
  });
}

const isComputed = ({ matrix }: RandomTask): boolean =>
  matrix === "input" || matrix === "none in the input" || matrix === "both";

/** The values of the tasks of a matrix, `[]` for a task without one. */
function combinations({ matrix }: RandomTask): readonly (readonly string[])[] {
  switch (matrix) {
    case "none":
      return [[]];
    case "one":
    case "input":
      return VALUES.map((value) => [value]);
    case "two":
    case "both":
      return VALUES.flatMap((first) => VALUES.map((second) => [first, second]));
    case "none in the input":
      return [];
  }
}

/** The names of the tasks that the plan has for a declaration, before the run. */
function idsOf(task: RandomTask, at: number): readonly string[] {
  if (isComputed(task)) return [`t${at}`];
  return combinations(task).map((values) => (values.length === 0 ? `t${at}` : `t${at}[${values.join(",")}]`));
}

const commandOf = (at: number, values: readonly string[]): string =>
  [`t${at}`, ...values.map((value) => `'${value}'`)].join(" ");

/** The position that `when` reads: one that the task waits for, with a word that waits for its end. */
function readBy({ when, after, words }: RandomTask): number | undefined {
  if (when === null || words === "any") return undefined;
  return after[when[0]];
}

function write({ tasks, parallel, onFailure }: RandomPlan): string {
  const lists = {
    none: "",
    one: ' for v in ["p", "q"]',
    two: ' for v in ["p", "q"], w in ["p", "q"]',
    input: " for v in some",
    "none in the input": " for v in empty",
    both: " for v in some, w in some",
  };
  const lines = tasks.map((each, at) => {
    const { after, words, matrix, isFinally, when, touches, alone, pool, allows } = each;
    const names = after.map((before, position) => `${words === "any" ? "" : WORDS[words[position] ?? 0]}t${before}`);
    // A word holds for all names behind it, so the plain ones come first.
    const sorted = [...names.filter((name) => !name.includes(" ")), ...names.filter((name) => name.includes(" "))];
    const subject = readBy(each);
    const command = { none: `"t${at}"`, one: `\`t${at} \${v}\``, two: `\`t${at} \${v} \${w}\`` };
    const policies = [
      ...touches.map((path) => `touches ${JSON.stringify(path)}`),
      ...(alone ? ["alone"] : []),
      ...(pool ? ["pool db"] : []),
      ...(allows ? ["allow failure"] : []),
    ];
    return [
      `  ${isFinally ? "finally " : ""}task t${at} = shell(${matrix === "none" ? command.none : matrix === "two" || matrix === "both" ? command.two : command.one})`,
      lists[matrix],
      after.length === 0 ? "" : ` after ${words === "any" ? "any " : ""}${sorted.join(", ")}`,
      subject === undefined ? "" : ` when status(t${subject}) == is_${when?.[1] ?? ""}`,
      policies.length === 0 ? "" : ` { ${policies.join(" ")} }`,
    ].join("");
  });
  return `plan random {
  max parallel ${parallel}
  pool db 1
  on failure ${onFailure}
  input some: string[] = ["p", "q"]
  input empty: string[] = []
  input is_done: string = "done"
  input is_failed: string = "failed"
  input is_skipped: string = "skipped"
  input is_blocked: string = "blocked"
${lines.join("\n")}
}`;
}

function commandsOf({ tasks }: RandomPlan): Record<string, Command> {
  return Object.fromEntries(
    tasks.flatMap((each, at) =>
      combinations(each).map((values): [string, Command] => {
        const fails = each.fails.includes(values.join(""));
        return [commandOf(at, values), { takes: each.takes, codes: !fails ? [0] : each.recovers ? [1, 0] : [1] }];
      }),
    ),
  );
}

interface End {
  readonly status: string;
  readonly allowed: boolean;
}
type Ends = ReadonlyMap<string, End>;

const ORDER = ["failed", "blocked", "cancelled", "done", "skipped"];
const isDone = ({ status, allowed }: End): boolean => status === "done" || (status === "failed" && allowed);
const hasFailed = ({ status }: End): boolean => status === "failed" || status === "blocked";

/** The ends that a task may have after those before it. Where two reasons meet, the first in time decides. */
function possible(plan: RandomPlan, at: number, ends: Ends): ReadonlySet<string> {
  const each = plan.tasks[at] as RandomTask;
  const groups = each.after.map((before) =>
    idsOf(plan.tasks[before] as RandomTask, before).map((id) => ends.get(id) as End),
  );
  const found = new Set<string>();
  const broken = [...ends.values()].some((end) => end.status === "failed" && !end.allowed);
  if (plan.onFailure !== "continue" && broken && !each.isFinally) found.add("cancelled");
  const refused = (before: readonly End[]): void => {
    if (before.some(hasFailed)) found.add("blocked");
    if (before.some(({ status }) => status === "skipped")) found.add("skipped");
    if (before.some(({ status }) => status === "cancelled")) found.add("blocked").add("cancelled");
  };
  if (each.words === "any") {
    const all = groups.flat();
    if (all.length > 0 && !all.some(isDone)) {
      refused(all);
      return found;
    }
  } else {
    let starts = true;
    // `failed` is about all tasks that the word names together.
    const failing = groups.filter((_, position) => (each.words as readonly number[])[position] === 2).flat();
    if (failing.length > 0 && !failing.some(hasFailed)) {
      found.add("skipped");
      if (failing.some(({ status }) => status === "cancelled")) found.add("cancelled").add("blocked");
      starts = false;
    }
    for (const [position, group] of groups.entries()) {
      if (each.words[position] !== 0 || group.every(isDone)) continue;
      refused(group.filter((end) => !isDone(end)));
      starts = false;
    }
    if (!starts) return found;
  }
  const subject = readBy(each);
  if (subject !== undefined) {
    const statuses = new Set(
      idsOf(plan.tasks[subject] as RandomTask, subject).map((id) => (ends.get(id) as End).status),
    );
    const status = ORDER.find((candidate) => statuses.has(candidate));
    if (status !== each.when?.[1]) return found.add("skipped");
  }
  return found.add("runs");
}

/** Whether all tasks before a task, near and far, were done. */
function isSettled(plan: RandomPlan, at: number, ends: Ends): boolean {
  const { after } = plan.tasks[at] as RandomTask;
  return after.every(
    (before) =>
      idsOf(plan.tasks[before] as RandomTask, before).every((id) => ends.get(id)?.status === "done") &&
      isSettled(plan, before, ends),
  );
}

/** Checks the ends of a run; `before` are those of the run that it resumes. */
function checkEnds(
  plan: RandomPlan,
  ends: Ends,
  commands: Readonly<Record<string, Command>>,
  run: number,
  before?: Ends,
): void {
  for (const [at, each] of plan.tasks.entries()) {
    const may = possible(plan, at, ends);
    for (const [index, id] of idsOf(each, at).entries()) {
      const { status, allowed } = ends.get(id) as End;
      // What was done stays done, unless a task before it runs again.
      if (before !== undefined && !each.isFinally && before.get(id)?.status === "done" && isSettled(plan, at, before)) {
        expect(status, `${id} was done`).toBe("done");
        continue;
      }
      if (may.has("runs")) {
        const combination = combinations(each)[index] ?? [];
        const values = isComputed(each) ? combinations(each) : [combination];
        const codes = values.map((value) => commands[commandOf(at, value)]?.codes ?? [0]);
        const fails = codes.some((list) => (list[run] ?? list.at(-1)) !== 0);
        // The flaky command of a task that the first run has not started fails in the second.
        const unsure = codes.some((list) => list.length > 1);
        const ran = each.allows && isComputed(each) && fails ? ["done"] : fails ? ["failed"] : ["done"];
        const wanted = [...may, ...ran, ...(unsure ? ["done", "failed"] : [])];
        if (plan.onFailure === "kill") wanted.push("cancelled");
        expect(wanted, `${id} is ${status}`).toContain(status);
      } else expect([...may], `${id} is ${status}`).toContain(status);
      expect(allowed, `${id} may fail`).toBe(status === "failed" && each.allows);
    }
  }
}

/** Checks that nothing starts before what it waits for. */
function checkOrder(plan: RandomPlan, events: readonly PlanEvent[]): void {
  const started = new Map<string, number>();
  const ended = new Map<string, { readonly at: number; readonly status: string }>();
  for (const event of events) {
    if (event.type !== "node_transition") continue;
    const { node_id: id, to, seq } = event;
    if (to === "running" && !started.has(id)) started.set(id, seq);
    if (["done", "failed", "blocked", "skipped", "cancelled"].includes(to)) ended.set(id, { at: seq, status: to });
  }
  for (const [at, each] of plan.tasks.entries()) {
    for (const id of [...started.keys()].filter((name) => name.split("[")[0] === `t${at}`)) {
      const start = started.get(id) as number;
      const before = each.after.flatMap((index) => idsOf(plan.tasks[index] as RandomTask, index));
      const earlier = before.filter((name) => (ended.get(name)?.at ?? Infinity) < start);
      if (each.words === "any") expect(earlier.length > 0 || before.length === 0, `${id} started early`).toBe(true);
      else expect(earlier, `${id} started early`).toEqual(before);
      if (!each.isFinally) continue;
      const others = plan.tasks.flatMap((other, index) => (other.isFinally ? [] : idsOf(other, index)));
      expect(
        others.filter((name) => (ended.get(name)?.at ?? Infinity) > start),
        `${id} is the end`,
      ).toEqual([]);
    }
  }
}

/** Checks the commands that were in flight together. */
function checkTogether(plan: RandomPlan, together: readonly (readonly string[])[]): void {
  const overlap = (a: string, b: string): boolean => a === b || [a, b].every((path) => path.startsWith("src/"));
  for (const commands of together) {
    expect(commands.length, commands.join(", ")).toBeLessThanOrEqual(plan.parallel);
    const running = commands.map((command) => plan.tasks[Number(/^t(\d+)/.exec(command)?.[1])] as RandomTask);
    if (running.length > 1)
      expect(
        running.some(({ alone }) => alone),
        `${commands.join(", ")}: alone`,
      ).toBe(false);
    expect(running.filter(({ pool }) => pool).length, `${commands.join(", ")}: pool`).toBeLessThanOrEqual(1);
    for (const [index, first] of running.entries()) {
      for (const second of running.slice(index + 1)) {
        const shared = first.touches.some((a) => second.touches.some((b) => overlap(a, b)));
        expect(shared, `${commands.join(", ")}: paths`).toBe(false);
      }
    }
  }
}

const endsOf = (tasks: readonly { readonly id: string; readonly status: string; readonly allowed?: boolean }[]): Ends =>
  new Map(tasks.map(({ id, status, allowed }) => [id, { status, allowed: allowed === true }]));

/** How often a run met each thing, so that none is left out. */
const met = new Map<string, number>();
const meet = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1);

test("every task ends as the tasks before it allow, in order and within the limits, also after a resume", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const commands = commandsOf(plan);
      const runner = textRunner(write(plan), commands, { store: new MemoryStore() });
      const first = await runner.run({ thread: "t" });
      const ends = endsOf(first.tasks);
      const names = plan.tasks.flatMap(idsOf);
      expect([...ends.keys()].sort()).toEqual([...names].sort());
      checkEnds(plan, ends, commands, 0);
      checkOrder(plan, runner.events);
      checkTogether(plan, runner.together);
      const isClean = [...ends.values()].every((end) => isDone(end) || end.status === "skipped");
      expect(first.outcome === "clean", first.outcome).toBe(isClean);
      for (const each of plan.tasks) {
        meet(`matrix ${each.matrix}`);
        if (each.isFinally) meet("finally");
        if (readBy(each) !== undefined) meet("status");
      }
      for (const { status, allowed } of ends.values()) meet(allowed ? "allowed failure" : status);
      if (isClean) return meet("clean");

      runner.started.length = 0;
      runner.together.length = 0;
      const second = await runner.resume("t");
      const after = endsOf(second.tasks);
      meet(second.outcome === "clean" ? "recovered" : "failed again");
      checkEnds(plan, after, commands, 1, ends);
      checkTogether(plan, runner.together);
      const again = new Set(runner.started.map((command) => /^t\d+/.exec(command)?.[0]));
      for (const [at, each] of plan.tasks.entries()) {
        if (each.isFinally || !isSettled(plan, at, ends)) continue;
        if (!idsOf(each, at).every((id) => ends.get(id)?.status === "done")) continue;
        expect(again.has(`t${at}`), `t${at} was done, and ran again`).toBe(false);
      }
    }),
    { seed: 31, numRuns: numRuns(400) },
  );
  for (const what of [
    ...["none", "one", "two", "input", "none in the input", "both"].map((matrix) => `matrix ${matrix}`),
    ...["finally", "status", "allowed failure", "clean", "recovered", "failed again"],
    ...["done", "failed", "blocked", "skipped", "cancelled"],
  ]) {
    expect(met.get(what) ?? 0, what).toBeGreaterThan(4);
  }
});

test("each of the random plans is the same plan after its table is read", () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const table = planTable(write(plan));
      const declared = plan.tasks.flatMap(idsOf);
      expect(table.tasks.map(({ name }) => name).sort()).toEqual([...declared].sort());
    }),
    { seed: 32, numRuns: numRuns(100) },
  );
});
