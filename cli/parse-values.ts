import { findSimilar } from "../diagnostics/similar.ts";
import type { Json, JsonObject } from "../runtime/json.ts";
import { CommandError } from "./command-error.ts";
import { readStdin } from "./read-stdin.ts";
import { readSource } from "./source-files.ts";

/** `--input`: JSON, `@file` or `-` for standard input. */
export function parseInput(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const source = text === "-" ? readStdin() : text.startsWith("@") ? readSource(text.slice(1)) : text;
  const where = text === "-" ? "standard input" : text.startsWith("@") ? text.slice(1) : "--input";
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new CommandError(`${where} is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      help: `write the inputs as one object: --input '{"name": "value"}'`,
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CommandError(`${where} must hold a JSON object with the graph's inputs by name`);
  }
  return value as JsonObject;
}

/** Answers of `--answer`: by pause id (`ID=VALUE`), or bare. */
export interface Answers {
  readonly answers?: Readonly<Record<string, Json>>;
  readonly answer?: Json;
}

/**
 * `ID=VALUE` where the part before the `=` is the id of a waiting item, otherwise the whole is the value: an answer may contain
 * a `=` itself. Values that are JSON are read as JSON, others are strings.
 */
export function parseAnswers(given: readonly string[], waiting: ReadonlySet<string>): Answers {
  if (given.length === 0) return {};
  const answers: Record<string, Json> = Object.create(null) as Record<string, Json>;
  const bare: Json[] = [];
  for (const text of given) {
    const at = text.indexOf("=");
    const id = at === -1 ? undefined : text.slice(0, at);
    if (id !== undefined && waiting.has(id)) answers[id] = parseValue(text.slice(at + 1));
    else if (id !== undefined && PAUSE_ID.test(id)) throw notWaiting(id, waiting);
    else bare.push(parseValue(text));
  }
  const named = Object.keys(answers).length;
  if (bare.length === 0) return { answers };
  if (bare.length === 1 && named === 0 && waiting.size <= 1) return { answer: bare[0] ?? null };
  throw new CommandError(
    waiting.size > 1
      ? `${waiting.size} items wait for an answer: say which one is meant`
      : "there are more answers than items that wait",
    {
      help: [...waiting].map((id) => `--answer ${id}=VALUE`).join("  "),
    },
  );
}

/** What ids of waiting items look like: a bare answer hardly does. */
const PAUSE_ID = /^\S+@\d+\.[0-9a-f]+\S*$/;

function notWaiting(id: string, waiting: ReadonlySet<string>): CommandError {
  const similar = findSimilar(id, waiting);
  return new CommandError(`nothing with the id \`${id}\` waits for an answer`, {
    code: "NG_BAD_ANSWER",
    help:
      similar !== undefined
        ? `an item with a similar id waits: \`${similar}\``
        : waiting.size === 0
          ? "nothing waits in this thread"
          : `waiting: ${[...waiting].join(", ")}`,
  });
}

/** JSON where it is JSON, otherwise the text itself. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** A whole number from `least`, for flags like `--max-steps`. */
export function parseCount(flag: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new CommandError(`${flag} takes a whole number from ${least}, not \`${text}\``);
    }
    return value;
  };
}

/** Limits of steps: of the run's own graph, and of others by name. */
export interface StepLimitFlags {
  readonly own?: number;
  readonly graphs: Readonly<Record<string, number>>;
}

/** `N`, or `GRAPH=N` for a graph that the run calls; may be repeated. */
export function parseStepLimit(text: string, before: StepLimitFlags | undefined): StepLimitFlags {
  const flag = "--max-steps";
  const { graphs = {}, ...rest } = before ?? {};
  const [, name, count] = /^(\w+)=(.*)$/.exec(text) ?? [];
  if (name === undefined) return { ...rest, graphs, own: parseCount(flag, 1)(text) };
  return { ...rest, graphs: { ...graphs, [name]: parseCount(`${flag} ${name}=`, 1)(count ?? "") } };
}

/** As runs take them. */
export function stepLimits(
  { own, graphs }: StepLimitFlags,
  graph: string,
): number | Readonly<Record<string, number>> | undefined {
  if (Object.keys(graphs).length === 0) return own;
  return own === undefined ? graphs : { ...graphs, [graph]: own };
}

/** A name that somebody makes up: anything but nothing. */
export function parseName(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== "") return text;
    throw new CommandError(`${flag} takes a name, not an empty text`);
  };
}

/** One of a few words. */
export function parseChoice<T extends string>(flag: string, choices: readonly T[], text: string): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const similar = findSimilar(text, choices);
  throw new CommandError(`${flag} takes ${choices.join(", ")}, not \`${text}\``, {
    help: similar === undefined ? undefined : `did you mean \`${similar}\`?`,
  });
}
