import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Schedule, ScheduleOptions } from "../../runtime/plan/schedule.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadPlan } from "../sources/load-graph.ts";
import { choiceOption, parseCount } from "../run/parse-values.ts";
import { hasOldOrder, planTablePath } from "../sources/plan-order.ts";
import { RUNS_DIRECTORY } from "../plan/run-directory.ts";
import { expectedDurations } from "../plan/expected-durations.ts";
import { scheduleMermaid } from "../schedule/schedule-mermaid.ts";
import { scheduleSvg } from "../schedule/schedule-svg.ts";
import { scheduleText } from "../schedule/schedule-text.ts";
import { viewSchedule, type ScheduleView } from "../schedule/schedule-view.ts";
import { jsonText } from "../output/json-text.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

const FORMATS = ["text", "json", "mermaid", "svg"] as const;
type ScheduleFormat = (typeof FORMATS)[number];

/** Default time for the search for an order, in milliseconds. */
const DEFAULT_BUDGET_MS = 2000;

interface PlanOptions {
  readonly format?: ScheduleFormat;
  readonly graph?: string;
  readonly maxParallel?: number;
  /** Milliseconds, or `true` for the default. */
  readonly optimize?: number | true;
  readonly output?: string;
}

export const planCommand = defineCommand<PlanOptions>({
  usage: "plan <file>",
  summary: "print the schedule of a plan without running it",
  configure: (command) => {
    command
      .addOption(choiceOption("--format <format>", "svg is a Gantt chart; default: text", FORMATS))
      .option("--graph <name>", "which plan of the file (default: the one that no other calls)")
      .option("--max-parallel <n>", "maximum tasks at the same time", parseCount("--max-parallel", 1))
      .option(
        "--optimize [budget]",
        "search for a shorter order, for 2s or the given time (--optimize=10s)",
        parseBudget,
      )
      .option(
        "-o, --output <file>",
        "write a file instead of printing; NAME.table.json stores the plan with its order",
      );
  },
  examples: [
    "ngc plan ship.ngraph",
    "ngc plan ship.ngraph --format svg -o ship.svg",
    "ngc plan ship.ngraph --optimize=10s -o ship_auth.table.json",
  ],
  run: async ([file = ""], options, output) => {
    refuseSource(options.output, file);
    const loaded = await loadPlan(file, options.graph, output);
    if (loaded === undefined) return EXIT.invalid;
    const maxParallel = options.maxParallel ?? loaded.maxParallel;
    const durations = expectedDurations(RUNS_DIRECTORY, loaded, maxParallel);
    const { table, schedule, attempts } = await scheduleOf(loaded, options.optimize, {
      expected: (task) => durations.expected(loaded.tasks[task]?.name ?? ""),
      maxParallel,
    });
    const view = viewSchedule(table, schedule, {
      maxParallel,
      ...durations,
      ...(attempts === undefined ? {} : { attempts }),
    });
    const target = options.output;
    if (target !== undefined) {
      const isTable = target.endsWith(".table.json") && options.format === undefined;
      writeAtomically(target, `${isTable ? JSON.stringify(table, null, 2) : render(view, options.format ?? "text")}\n`);
    }
    // After the file is written: if writing fails, the error is the only document.
    output.document(view);
    if (options.optimize === undefined && hasOldOrder(table, file)) {
      output.note(
        `${planTablePath(file, table.name)} stores an order of an older version of the plan: search again with --optimize`,
      );
    }
    if (target === undefined) {
      const { format = "text" } = options;
      if (format === "text") output.result(render(view, format));
      else output.verbatim(render(view, format));
      if (options.optimize !== undefined && table.ranks !== undefined) {
        output.note(`to keep this order: -o ${planTablePath(file, table.name)}`);
      }
      return EXIT.ok;
    }
    output.note(`wrote ${target}`);
    return EXIT.ok;
  },
});

async function scheduleOf(
  table: PlanTable,
  optimize: number | true | undefined,
  options: ScheduleOptions,
): Promise<{ readonly table: PlanTable; readonly schedule: Schedule; readonly attempts?: number }> {
  const { optimizePlan, planSchedule } = await import("../../runtime/plan/schedule.ts");
  if (optimize === undefined) return { table, schedule: planSchedule(table, options) };
  if (table.order === "file") {
    throw new CommandError(`\`${table.name}\` declares \`order file\`: there is no order to search for`, {
      help: "remove `order file` from the plan",
    });
  }
  const until = performance.now() + (optimize === true ? DEFAULT_BUDGET_MS : optimize);
  const { ranks, schedule, attempts } = optimizePlan(table, {
    ...options,
    shouldStop: () => performance.now() > until,
  });
  return { table: { ...table, ranks }, schedule, attempts };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function parseBudget(text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (UNITS[unit ?? ""] ?? NaN);
  if (milliseconds > 0) return milliseconds;
  throw new CommandError(`--optimize takes a duration like 10s, not \`${text}\``, {
    help: "write the file before it: `ngc plan FILE --optimize`",
  });
}

function render(view: ScheduleView, format: ScheduleFormat): string {
  switch (format) {
    case "text":
      return scheduleText(view);
    case "json":
      return jsonText(view, 2);
    case "mermaid":
      return scheduleMermaid(view);
    case "svg":
      return scheduleSvg(view);
  }
}
