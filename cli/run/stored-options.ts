import type { Command } from "commander";
import { printable } from "../../diagnostics/render/index.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";

/** Options of `run` and `resume` that the thread stores. */
export interface StoredOptions {
  readonly metadata?: JsonObject;
  /** Milliseconds. */
  readonly ttl?: number | "never";
}

export function addStoredOptions(command: Command): void {
  command
    .option(
      "--metadata <key=value>",
      "store this with the run, for `ngc threads --metadata`: JSON, or a text; may be repeated",
      collectOwnMetadata,
    )
    .option(
      "--ttl <duration>",
      "the thread expires this long after its last checkpoint, such as 30d or 12h; `never` keeps it",
      parseTtl,
    );
}

/** Collects the flag `--metadata`. A value is JSON if it can be read as such, otherwise text. */
export function collectMetadata(text: string, before: JsonObject = {}): JsonObject {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new CommandError(`--metadata takes KEY=VALUE, not \`${printable(text)}\``);
  }
  return { ...before, [name]: readJson(value) };
}

/** Keys that `ngc` writes: `resume` reads them. */
const RESERVED: ReadonlySet<string> = new Set(["file", "graph", "kind", "runs"]);

function collectOwnMetadata(text: string, before: JsonObject | undefined): JsonObject {
  const collected = collectMetadata(text, before);
  const [name = ""] = text.split("=");
  if (RESERVED.has(name)) throw new CommandError(`--metadata ${name}: ngc itself writes this key; use another name`);
  if (before !== undefined && Object.hasOwn(before, name)) {
    throw new CommandError(`--metadata gives \`${printable(name)}\` twice`);
  }
  return collected;
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseTtl(text: string): number | "never" {
  if (text === "never") return text;
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (UNITS[unit] ?? NaN);
  if (milliseconds > 0 && milliseconds <= Number.MAX_SAFE_INTEGER) return milliseconds;
  throw new CommandError(
    `--ttl takes a duration above 0 such as 30d, 12h or 90m, or \`never\`, not \`${printable(text)}\``,
  );
}
