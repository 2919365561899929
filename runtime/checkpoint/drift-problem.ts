import type { Checkpoint } from "../interface/checkpoint.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { listed } from "../value/shown.ts";

/** A part of a checkpoint that does not fit an edited graph, and the ways to say what became of it. */
export interface DriftProblem {
  readonly text: string;
  /** What the graph can declare, one of them: `was sure`. */
  readonly declare?: readonly string[];
  /** Options of `ngc migrate`, one of them: `--rename sure=NEW`. */
  readonly migrate?: readonly string[];
  /** The node whose stored result neither of them can convert. */
  readonly again?: string;
}

export function problemsOf(texts: readonly string[]): readonly DriftProblem[] {
  return texts.map((text) => ({ text }));
}

/**
 * An NG_DRIFT that lists the problems and the ways forward.
 *
 * @param what what is refused
 * @param otherwise a way that needs neither a declaration nor a migration
 */
export function drift(
  { threadId }: Checkpoint,
  what: string,
  problems: readonly DriftProblem[],
  otherwise?: string,
): ThreadError {
  // The results of many items have one problem.
  const texts = [...new Set(problems.map(({ text }) => text))];
  const ways = [waysForward(threadId, problems), otherwise ?? ""].filter((way) => way !== "").join(", or ");
  const message = `${what}: ${listed(texts, "; ")}${ways === "" ? "" : `; ${ways}`}`;
  return new ThreadError("NG_DRIFT", threadId, message, { details: texts });
}

/** The declarations and the migration that say what became of the missing parts; empty if there are none. */
export function waysForward(threadId: string, problems: readonly DriftProblem[]): string {
  const declare = choices(problems.map((problem) => problem.declare));
  const migrate = choices(problems.map((problem) => problem.migrate));
  const again = problems.find((problem) => problem.again !== undefined)?.again;
  return [
    ...(declare === "" ? [] : [`declare in the graph what was renamed or removed (${declare})`]),
    ...(migrate === ""
      ? []
      : [`migrate the thread (\`engine.migrate\`, or \`ngc migrate ${quoted(threadId)}\` with ${migrate})`]),
    ...(again === undefined
      ? []
      : [
          `run node \`${again}\` again (\`at\` of \`engine.resume\`, or \`ngc fork ${quoted(threadId)} --at ${again}\`)`,
        ]),
  ].join(", or ");
}

/** `--rename a=NEW`, and `--rename b=NEW` or `--drop b`. */
function choices(options: readonly (readonly string[] | undefined)[]): string {
  const texts = options.flatMap((each) =>
    each === undefined ? [] : [each.map((option) => `\`${option}\``).join(" or ")],
  );
  const all = [...new Set(texts)];
  const shown = all.slice(0, MAX_SHOWN);
  return all.length > shown.length ? `${shown.join(", ")}, …` : shown.join(", ");
}

const MAX_SHOWN = 12;

function quoted(thread: string): string {
  return /^[\w.:/@-]+$/.test(thread) ? thread : `'${thread.replaceAll("'", `'\\''`)}'`;
}
