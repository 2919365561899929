/**
 * Measures the quality of schedules: the mean excess of the makespan over the lower bound on generated graphs of four
 * shapes, for file order, for the priorities, and for an optimised order; then on plans with shared reads, pools, `alone` and missing
 * durations. It also measures the cost of planning and
 * scheduling, and of `ngc run` (the built program) with real commands.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable } from "../runtime/table/plan-table.ts";
import { createPlanRunner } from "../runtime/plan/plan-runner.ts";
import { createPlanScheduler } from "../runtime/plan/plan-scheduler.ts";
import { makespanLowerBound, optimizePlan, planSchedule } from "../runtime/plan/schedule.ts";

type Random = () => number;
type Shape = (count: number, random: Random) => number[][];

const SHAPES: Record<string, Shape> = {
  layered: (count, random) => {
    const width = 4 + Math.floor(random() * 8);
    return Array.from({ length: count }, (_, task) => {
      const layer = Math.floor(task / width);
      if (layer === 0) return [];
      const picks = 1 + Math.floor(random() * 3);
      return [...new Set(Array.from({ length: picks }, () => (layer - 1) * width + Math.floor(random() * width)))];
    });
  },
  "fork-join": (count, random) => {
    const after: number[][] = [[]];
    while (after.length < count) {
      const root = after.length - 1;
      const branches = Math.min(2 + Math.floor(random() * 8), count - after.length);
      const first = after.length;
      for (let branch = 0; branch < branches; branch++) after.push([root]);
      if (after.length < count) after.push(Array.from({ length: branches }, (_, branch) => first + branch));
    }
    return after;
  },
  random: (count, random) => {
    const density = 0.5 + random() * 2.5;
    return Array.from({ length: count }, (_, task) => {
      const picks = Math.min(task, Math.floor(random() * density * 2));
      return [...new Set(Array.from({ length: picks }, () => Math.floor(random() * task)))];
    });
  },
  "series-parallel": (count, random) => {
    const after: number[][] = [];
    const grow = (size: number, before: number[]): number[] => {
      if (size <= 1) {
        after.push(before);
        return [after.length - 1];
      }
      const left = 1 + Math.floor(random() * (size - 1));
      if (random() < 0.5) return grow(size - left, grow(left, before));
      return [...grow(left, before), ...grow(size - left, before)].slice(-6);
    };
    grow(count, []);
    return after;
  },
};

function generate(shape: Shape, count: number, slots: number, conflicts: boolean, random: Random): PlanTable {
  const after = shape(count, random).slice(0, count);
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    kind: "plan",
    name: "generated",
    maxParallel: slots,
    order: "priority",
    onFailure: "continue",
    pools: [],
    channels: [],
    tasks: after.map((before, index) => ({
      name: `t${index}`,
      call: { kind: "expression", expression: 0 },
      after: before,
      trigger: "all",
      touches:
        conflicts && random() < 0.4
          ? [{ path: `src/f${Math.floor(random() * (count / 12))}.ts`, mode: "write" as const }]
          : [],
      checks: [],
      tries: 6,
      estimate: Math.ceil(10 ** (1 + random() * 2)),
    })),
    expressions: [{ op: "const", value: null }],
    functions: [],
    types: [],
    graphs: [],
    plans: [],
    secrets: [],
    effects: [],
    digest: "sha256:0",
  };
}

function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const PER_SHAPE = 54;
const BUDGET_MS = 150;
const percent = (value: number): string => `${(100 * value).toFixed(2)} %`;

console.log("| shape | plans | file order | priorities | optimised |\n|---|--:|--:|--:|--:|");
const all = { file: 0, ours: 0, best: 0, count: 0 };
for (const [name, shape] of Object.entries(SHAPES)) {
  const sum = { file: 0, ours: 0, best: 0 };
  for (let index = 0; index < PER_SHAPE; index++) {
    const random = seeded(index * 7919 + name.length);
    const count = 50 + Math.floor(random() * 151);
    const plan = generate(shape, count, [2, 4, 8][index % 3] ?? 4, index % 2 === 0, random);
    sum.file += planSchedule({ ...plan, order: "file" }).gap;
    sum.ours += planSchedule(plan).gap;
    const until = performance.now() + BUDGET_MS;
    sum.best += optimizePlan(plan, { shouldStop: () => performance.now() > until, seed: index }).schedule.gap;
  }
  console.log(
    `| ${name} | ${PER_SHAPE} | ${percent(sum.file / PER_SHAPE)} | ${percent(sum.ours / PER_SHAPE)} | ${percent(sum.best / PER_SHAPE)} |`,
  );
  all.file += sum.file;
  all.ours += sum.ours;
  all.best += sum.best;
  all.count += PER_SHAPE;
}
console.log(
  `| all | ${all.count} | ${percent(all.file / all.count)} | ${percent(all.ours / all.count)} | ${percent(all.best / all.count)} |`,
);

/** What else a plan has, in addition to tasks that write paths. */
const FEATURES: Record<string, (plan: PlanTable, random: Random) => PlanTable> = {
  "paths that are only read": (plan, random) =>
    withTasks(plan, (task) =>
      random() < 0.6
        ? {
            ...task,
            touches: [...task.touches, { path: `lib/f${Math.floor(random() * 4)}.ts`, mode: "read" as const }],
          }
        : task,
    ),
  "a pool of 2 and one of 3": (plan, random) =>
    withTasks(
      {
        ...plan,
        pools: [
          { name: "gpu", size: 2 },
          { name: "db", size: 3 },
        ],
      },
      (task) =>
        random() < 0.4 ? { ...task, pool: { pool: random() < 0.5 ? 0 : 1, count: random() < 0.2 ? 2 : 1 } } : task,
    ),
  "tasks that run alone": (plan, random) =>
    withTasks(plan, (task) => (random() < 0.04 ? { ...task, alone: true as const } : task)),
  "30 % of the durations missing": (plan, random) => withoutEstimates(plan, () => random() < 0.3),
  "all durations missing": (plan) => withoutEstimates(plan, () => true),
};

function withoutEstimates(plan: PlanTable, isMissing: () => boolean): PlanTable {
  return withTasks(plan, ({ estimate, ...task }) =>
    isMissing() || estimate === undefined ? task : { ...task, estimate },
  );
}

function withTasks(
  plan: PlanTable,
  change: (task: PlanTable["tasks"][number]) => PlanTable["tasks"][number],
): PlanTable {
  return { ...plan, tasks: plan.tasks.map(change) };
}

/** The excess over the lower bound if the tasks take these times, whatever the plan assumes. */
function excessOf(plan: PlanTable, times: readonly number[]): number {
  const scheduler = createPlanScheduler(plan);
  const ends = new Map<number, number>();
  let now = 0;
  scheduler.begin();
  for (;;) {
    for (const task of scheduler.next()) ends.set(task, now + (times[task] ?? 0));
    if (ends.size === 0) break;
    now = Math.min(...ends.values());
    for (const [task, end] of [...ends]) {
      if (end > now) continue;
      ends.delete(task);
      scheduler.settle(task, { status: "done" });
    }
  }
  return now / makespanLowerBound(plan, Float64Array.from(times), plan.maxParallel) - 1;
}

console.log("\n| plans with | plans | file order | priorities | optimised |\n|---|--:|--:|--:|--:|");
for (const [name, change] of Object.entries(FEATURES)) {
  const sum = { file: 0, ours: 0, best: 0 };
  const shapes = Object.values(SHAPES);
  for (let index = 0; index < PER_SHAPE; index++) {
    const random = seeded(index * 7919 + name.length);
    const count = 50 + Math.floor(random() * 151);
    const shape = shapes[index % shapes.length] as Shape;
    const whole = generate(shape, count, [2, 4, 8][index % 3] ?? 4, index % 2 === 0, random);
    const times = whole.tasks.map(({ estimate = 0 }) => estimate);
    const plan = change(whole, random);
    sum.file += excessOf({ ...plan, order: "file" }, times);
    sum.ours += excessOf(plan, times);
    const until = performance.now() + BUDGET_MS;
    const { ranks } = optimizePlan(plan, { shouldStop: () => performance.now() > until, seed: index });
    sum.best += excessOf({ ...plan, ranks }, times);
  }
  console.log(
    `| ${name} | ${PER_SHAPE} | ${percent(sum.file / PER_SHAPE)} | ${percent(sum.ours / PER_SHAPE)} | ${percent(sum.best / PER_SHAPE)} |`,
  );
}

const large = generate(SHAPES["layered"]!, 10_000, 8, true, seeded(1));
planSchedule(large);
let start = performance.now();
planSchedule(large);
console.log(`\n10,000 tasks planned in ${(performance.now() - start).toFixed(0)} ms`);

/** Microseconds per task: the minimum of nine rounds, because other load can only increase the time. */
async function leastCost(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 9; round++) {
    start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return (least * 1000) / large.tasks.length;
}

const scheduling = await leastCost(() => {
  const scheduler = createPlanScheduler(large);
  scheduler.begin();
  const running: number[] = [];
  for (;;) {
    running.push(...scheduler.next());
    const task = running.shift();
    if (task === undefined) break;
    scheduler.settle(task, { status: "done" });
  }
});
console.log(`scheduled with ${scheduling.toFixed(2)} µs a task`);

/** Microseconds per task in the runner, with a trivial body: the overhead of a task. */
const runner = createPlanRunner({ ...large, digest: `sha256:${"0".repeat(64)}` });
const running = await leastCost(() => runner.run());
let events = 0;
const withEvents = await leastCost(() => runner.run({}, { onEvent: () => events++ }));
console.log(
  `run with ${running.toFixed(2)} µs a task, ${withEvents.toFixed(2)} µs with a listener for its ${events / 9} events`,
);

const COMMANDS = 2000;
const PATHS = 200;

interface Cost {
  readonly program: number;
  /** With the processes that the program starts. */
  readonly all: number;
}

/** Milliseconds of processor time of a Node program for each command that it starts, from its start to its end. */
function costOf(directory: string, program: readonly string[]): Cost {
  // Written by the program itself: the processor time of its commands does not count.
  const cpu = join(directory, "cpu.json");
  const hook = `process.on("exit", () => process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(cpu)}, JSON.stringify(process.cpuUsage())))`;
  const node = [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(hook)}`, ...program];
  // The second line of `times` has the processor time of all processes that the shell has waited for, and of those that they have.
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", '"$@" >/dev/null && times', "sh", ...node], {
    cwd: directory,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program.join(" ")} ended with ${status}: ${stderr}`);
  const { user, system } = JSON.parse(readFileSync(cpu, "utf8")) as NodeJS.CpuUsage;
  const times = [...(stdout.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  const seconds = times.reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest), 0);
  return { program: (user + system) / 1000 / COMMANDS, all: (seconds * 1000) / COMMANDS };
}

/** A loop that starts as many commands, eight at a time, and does nothing else. */
const BARE_LOOP = `
const { spawn } = require("node:child_process");
let left = ${COMMANDS};
const next = () => void (left-- > 0 && spawn("true", { stdio: ["ignore", "pipe", "pipe"] }).on("close", next));
for (let place = 0; place < 8; place++) next();`;

/** The cost of `ngc run` for each of its tasks, whose commands do nothing, and of a loop that starts the same number of commands. */
function commandCost(): { readonly run: Cost; readonly bare: Cost } {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));
  try {
    const tasks = Array.from({ length: COMMANDS }, (_, index) => {
      const after = index < 8 ? "" : ` after t${index - 8}`;
      return `  task t${index} = shell("true")${after} { touches "f${index % PATHS}" }\n`;
    });
    writeFileSync(join(directory, "p.ngraph"), `plan p {\n  max parallel 8\n${tasks.join("")}}\n`);
    const run = costOf(directory, [resolve("dist/cli/ngc.js"), "run", "p.ngraph", "--quiet"]);
    return { run, bare: costOf(directory, ["--eval", BARE_LOOP]) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const rounds = Array.from({ length: 3 }, commandCost);
const least = (cost: (round: (typeof rounds)[number]) => number): number => Math.min(...rounds.map(cost));
const shown = (name: string, pick: (round: (typeof rounds)[number]) => Cost): string =>
  `${name} ${least((round) => pick(round).program).toFixed(2)} ms, with its commands ${least((round) => pick(round).all).toFixed(2)} ms`;
const ratio = least(({ run, bare }) => run.all / bare.all).toFixed(1);
console.log(
  `${COMMANDS} commands, processor time of each: ${shown("ngc", ({ run }) => run)}; ${shown("a bare loop", ({ bare }) => bare)}; ratio ${ratio}`,
);
