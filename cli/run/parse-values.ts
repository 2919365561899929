import { existsSync } from "node:fs";
import { Option } from "commander";
import { printable } from "../../diagnostics/render/index.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { readStdin } from "../process/read-stdin.ts";
import { readSource } from "../sources/source-files.ts";

/** `--input`: JSON, `@file` or `-` for standard input. */
export async function parseInput(text: string | undefined): Promise<JsonObject> {
  return text === undefined ? {} : parseRecord(text, "--input", "the graph's inputs by name");
}

/**
 * A record of values: JSON, `@file` or `-` for standard input.
 *
 * @param where names the text in messages if it is neither a file nor standard input
 * @param what describes the content in messages
 */
export async function parseRecord(text: string, where: string, what: string): Promise<JsonObject> {
  const isStdin = text === "-";
  const isFile = text.startsWith("@");
  const source = isStdin ? await readStdin() : isFile ? readSource(text.slice(1)) : text;
  const place = isStdin ? "standard input" : isFile ? text.slice(1) : where;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new CommandError(
      `${place} is not valid JSON: ${printable(error instanceof Error ? error.message : String(error))}`,
      {
        help:
          !isStdin && !isFile && existsSync(text)
            ? `@${printable(text)} reads the file of this name`
            : `write ${what} as one object: '{"name": "value"}'; @FILE reads a file`,
      },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CommandError(`${place} must be a JSON object with ${what}`);
  }
  return value as JsonObject;
}

/** Parses a whole number of at least `least`, for flags like `--max-steps`. */
export function parseCount(flag: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new CommandError(`${flag} takes a whole number from ${least}, not \`${text}\``);
    }
    return value;
  };
}

/** Parses a number above 0, for `--max-cost`. */
export function parseAmount(flag: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value <= 0) {
      throw new CommandError(`${flag} takes a number above 0, not \`${text}\``);
    }
    return value;
  };
}

/** Limits: of the run's own graph, and of called graphs by name. */
export interface LimitFlags {
  readonly own?: number;
  readonly graphs: Readonly<Record<string, number>>;
}

/** Parses `N`, or `GRAPH=N` for a graph that the run calls; may be repeated. */
export function parseLimit(
  flag: string,
  parse: (flag: string, least: number) => (text: string) => number,
): (text: string, before: LimitFlags | undefined) => LimitFlags {
  return (text, before) => {
    const { graphs = {}, ...rest } = before ?? {};
    const [, name, count] = /^(\w+)=(.*)$/.exec(text) ?? [];
    if (name === undefined) return { ...rest, graphs, own: parse(flag, 1)(text) };
    return { ...rest, graphs: { ...graphs, [name]: parse(`${flag} ${name}=`, 1)(count ?? "") } };
  };
}

/** Converts the flags to the option of a run. */
export function givenLimits(
  { own, graphs }: LimitFlags,
  graph: string,
): number | Readonly<Record<string, number>> | undefined {
  if (Object.keys(graphs).length === 0) return own;
  return own === undefined ? graphs : { ...graphs, [graph]: own };
}

/** Parses the id of a thread: any text that is not empty, and that no command reads as an option. */
export function parseName(flag: string): (text: string) => string {
  return (text) => {
    if (text.startsWith("-")) {
      throw new CommandError(`${flag} takes a name that does not begin with \`-\`, not \`${text}\``, {
        help: "commands would read it as an option",
      });
    }
    if (text.trim() !== "") return text;
    throw new CommandError(`${flag} takes a name, not an empty text`);
  };
}

/** An option that takes one of several words. The help text and the completion of shells list them. */
export function choiceOption(flags: string, about: string, choices: readonly string[]): Option {
  const option = new Option(flags, about);
  option.argParser((text) => parseChoice(option.long ?? flags, choices, text));
  option.argChoices = [...choices];
  return option;
}

function parseChoice<T extends string>(flag: string, choices: readonly T[], text: string): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const similar = findSimilar(text, choices);
  throw new CommandError(`${flag} takes ${choices.join(", ")}, not \`${text}\``, {
    help: similar === undefined ? undefined : `did you mean \`${similar}\`?`,
  });
}
