import { printable } from "../../diagnostics/render/index.ts";
import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { Json } from "../../runtime/value/json.ts";
import { isGate } from "../../runtime/thread/answers.ts";
import { compileAdmit, Mismatch } from "../../runtime/value/validate.ts";
import { CommandError } from "../process/command-error.ts";
import { quoteArgument } from "../output/quote-argument.ts";

/** Answers of `--answer`: by pause id (`ID=VALUE`), or bare. */
export interface Answers {
  readonly answers?: Readonly<Record<string, Json>>;
  readonly answer?: Json;
}

/**
 * Parses the values of `--answer`. A text is `ID=VALUE` if the part before the `=` is the id of a waiting item, or has the form of one
 * (the engine knows items that were answered before). Otherwise the whole text is the value, because an answer may contain a `=`. A
 * value that is JSON is parsed as JSON if the item expects that; otherwise it is a text.
 *
 * @throws CommandError when it is unclear which item is meant, or an item has two different answers
 */
export function parseAnswers(given: readonly string[], pauses: readonly PauseItem[]): Answers {
  if (given.length === 0) return {};
  // Timers and signals take no answer.
  const waiting = pauses.filter(({ kind }) => kind !== "timer" && kind !== "signal");
  const byId = new Map(waiting.map((pause) => [pause.id, pause]));
  const named = new Map<string, string>();
  const bare: string[] = [];
  for (const text of given) {
    const at = text.indexOf("=");
    const id = at === -1 ? undefined : text.slice(0, at);
    if (id === undefined || !(byId.has(id) || PAUSE_ID.test(id))) {
      bare.push(text);
      continue;
    }
    const value = text.slice(at + 1);
    if ((named.get(id) ?? value) !== value) {
      throw new CommandError(`\`${printable(id)}\` has two different answers`, { code: "NG_BAD_ANSWER" });
    }
    named.set(id, value);
  }
  const [only] = waiting;
  const [text] = bare;
  if (text !== undefined && (bare.length > 1 || waiting.length > 1 || named.size > 0)) {
    throw new CommandError(
      waiting.length > 1
        ? `${waiting.length} items wait for an answer: name the item of each answer`
        : "there are more answers than waiting items",
      {
        code: "NG_BAD_ANSWER",
        help: waiting.map((pause) => `--answer ${quoteArgument(exampleOf(pause))}`).join("  ") || undefined,
      },
    );
  }
  if (text !== undefined) return { answer: readAnswer(text, only) };
  const entries = [...named].map(([id, value]) => [id, readAnswer(value, byId.get(id))] as const);
  return { answers: Object.fromEntries(entries) };
}

function exampleOf(pause: PauseItem): string {
  return `${pause.id}=${isGate(pause) ? "true" : "VALUE"}`;
}

/** The form of a waiting item's id (`approve@3.a96f28c9a3fb`). A bare answer rarely has it. */
const PAUSE_ID = /^\S+@\d+\S*\.[0-9a-f]{6,}$/;

/** Reads an answer by the expected type: `42` is a number for one question and a text for another. */
function readAnswer(text: string, pause: PauseItem | undefined): Json {
  return parseTyped(text, pause?.expects);
}

/** Parses JSON if the type accepts the value; other texts stay texts. */
export function parseTyped(text: string, expected: PauseItem["expects"]): Json {
  const value = parseValue(text);
  if (typeof value === "string" || expected === undefined) return value;
  const admit = compileAdmit(expected.type, expected.types);
  return admit(value) instanceof Mismatch && !(admit(text) instanceof Mismatch) ? text : value;
}

/** Parses JSON; a text that is not JSON stays a text. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
