import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { Json } from "../../runtime/value/json.ts";
import { compileAdmit, Mismatch } from "../../runtime/value/validate.ts";
import { CommandError } from "../process/command-error.ts";
import { quoteArgument } from "../output/quote-argument.ts";

/** Answers of `--answer`: by pause id (`ID=VALUE`), or bare. */
export interface Answers {
  readonly answers?: Readonly<Record<string, Json>>;
  readonly answer?: Json;
}

/**
 * `ID=VALUE` where the part before the `=` is the id of a waiting item or looks like one (the engine knows those that were answered
 * before), otherwise the whole is the value: an answer may contain a `=` itself. A value that is JSON is read as JSON where that
 * is what the item expects, and as the text that it is otherwise.
 *
 * @throws CommandError when it is not clear which item is meant, or one is answered twice
 */
export function parseAnswers(given: readonly string[], waiting: readonly PauseItem[]): Answers {
  if (given.length === 0) return {};
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
      throw new CommandError(`\`${id}\` is answered twice, and not alike`, { code: "NG_BAD_ANSWER" });
    }
    named.set(id, value);
  }
  const [only] = waiting;
  const [text] = bare;
  if (text !== undefined && (bare.length > 1 || waiting.length > 1 || named.size > 0)) {
    throw new CommandError(
      waiting.length > 1
        ? `${waiting.length} items wait for an answer: say which one is meant`
        : "there are more answers than items that wait",
      {
        code: "NG_BAD_ANSWER",
        help: waiting.map(({ id }) => `--answer ${quoteArgument(`${id}=VALUE`)}`).join("  ") || undefined,
      },
    );
  }
  if (text !== undefined) return { answer: readAnswer(text, only) };
  const entries = [...named].map(([id, value]) => [id, readAnswer(value, byId.get(id))] as const);
  return { answers: Object.fromEntries(entries) };
}

/** What ids of waiting items look like (`approve@3.a96f28c9a3fb`): a bare answer hardly does. */
const PAUSE_ID = /^\S+@\d+\S*\.[0-9a-f]{6,}$/;

/** `42` answers a question for a number and one for a text alike. */
function readAnswer(text: string, pause: PauseItem | undefined): Json {
  const value = parseValue(text);
  if (typeof value === "string" || pause?.expects === undefined) return value;
  const admit = compileAdmit(pause.expects.type, pause.expects.types);
  return admit(value) instanceof Mismatch && !(admit(text) instanceof Mismatch) ? text : value;
}

/** JSON where it is JSON, otherwise the text itself. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
