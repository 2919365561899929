import type { Command } from "commander";
import { EFFECT_NAMES, parseEffect } from "./parse-effect.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import { DEFAULT_STORE, STORE_FLAG, storeHelp } from "../threads/open-store.ts";
import type { StoredOptions } from "./stored-options.ts";
import { parseAmount, parseCount, parseLimit, type LimitFlags } from "./parse-values.ts";

/** Options that `run` and `resume` have in common. */
export interface ExecutionOptions extends StoredOptions {
  readonly store?: string;
  readonly maxSteps?: LimitFlags;
  readonly maxTokens?: LimitFlags;
  readonly maxCost?: LimitFlags;
  readonly maxParallel?: number;
  readonly allow?: readonly Effect[];
  readonly events?: boolean;
  readonly drain?: number;
  readonly pauseBefore?: readonly string[];
  readonly pauseAfter?: readonly string[];
  readonly builtins?: string;
  readonly config?: readonly string[];
}

/**
 * Options of `run`, `resume` and the servers: what runs may do and use.
 *
 * @param defaultStore the store without `--store`
 */
export function addLimitOptions(command: Command, defaultStore = DEFAULT_STORE): void {
  command
    .option(STORE_FLAG, storeHelp(defaultStore))
    .option(
      "--max-steps <n>",
      "maximum steps of the run, resumes included; replaces `limit steps`; GRAPH=N for a called graph; may be repeated",
      parseLimit("--max-steps", parseCount),
    )
    .option(
      "--max-tokens <n>",
      "maximum tokens of the run; replaces `limit tokens`; as --max-steps",
      parseLimit("--max-tokens", parseCount),
    )
    .option(
      "--max-cost <n>",
      "maximum cost of the run; replaces `limit cost`; as --max-steps",
      parseLimit("--max-cost", parseAmount),
    )
    .option("--max-parallel <n>", "maximum tasks at the same time", parseCount("--max-parallel", 1))
    .option("--allow <effects>", `allow only these effects: ${EFFECT_NAMES} or none`, parseEffects)
    .option("--builtins <file>", "a module whose exports supply built-in nodes, such as `llm`")
    .option(
      "--drain <seconds>",
      "on SIGTERM, wait at most this long for running nodes before the run ends (default 25)",
      parseCount("--drain", 0),
    );
}

export function addExecutionOptions(command: Command): void {
  addLimitOptions(command);
  command
    .option(CONFIG_FLAG, CONFIG_HELP, collect)
    .option(
      "--pause-before <node>",
      "graphs: pause before this node; may be repeated; CALL/NODE in a called graph",
      collect,
    )
    .option("--pause-after <node>", "graphs: pause after this node; may be repeated", collect)
    .option("--events", "print every event as a JSON line on stderr");
}

export function parseEffects(text: string): readonly Effect[] {
  if (text === "none") return [];
  return text.split(",").map((part) => parseEffect("--allow", part.trim()));
}

export const CONFIG_FLAG = "--config <name=value>";
export const CONFIG_HELP = "a value of the configuration (`config`): JSON, or a text; may be repeated";

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
