import type { Checkpoint, ConsumedAnswer, PauseItem, PendingWrite } from "../interface/checkpoint.ts";
import type { ResumeOptions } from "../interface/engine-options.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { equal } from "../expression/equal.ts";
import type { Json } from "../value/json.ts";
import type { Store } from "../interface/store.ts";
import { readRecord } from "../value/read-record.ts";
import { listed } from "../value/shown.ts";
import { compileAdmit, Mismatch } from "../value/validate.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { answeredPause, isAnswer, resumeStep } from "../checkpoint/restore-run.ts";
import { stepOfPause } from "../checkpoint/pause-ids.ts";
import { admitGiven } from "./admit-given.ts";

/** The answers that a resume uses, by pause id. */
export interface GivenAnswers {
  /** The recorded answers and the new ones. */
  readonly answers: Map<string, ConsumedAnswer>;
  /** The new answers, with the pauses that they answer. */
  readonly fresh: readonly { readonly pause: PauseItem; readonly value: Json }[];
}

/**
 * Checks answers against the waiting pauses (6.2). A repeated equal answer has no effect. A different answer to an
 * answered pause, an answer to an unknown id, and an answer that does not fit are refused before anything runs.
 *
 * @param present the id of a pause under the present names of the graph
 * @throws ThreadError NG_BAD_ANSWER, NG_NOT_PAUSED
 */
export async function takeAnswers(
  store: Store,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  options: Pick<ResumeOptions, "answer" | "answers">,
  present: (id: string) => string = (id) => id,
): Promise<GivenAnswers> {
  // Answers of finished steps do not apply to the next step. Answers of its own `pause before` gates may already be
  // recorded.
  const step = resumeStep(head);
  const answers = new Map(
    head.answers.filter(({ id }) => stepOfPause(id) >= step).map((answer) => [answer.id, answer]),
  );
  for (const write of writes) {
    if (isAnswer(write)) answers.set(answeredPause(write), { id: answeredPause(write), value: write.result });
  }
  const open = head.pauses.filter(({ id }) => !answers.has(id));
  const fresh: { pause: PauseItem; value: Json }[] = [];
  for (const [id, value] of namedAnswers(head, open, options)) {
    const admitted = admitGiven(value, (problem) => bad(head, `the answer to \`${id}\` ${problem}`));
    const pause = open.find((item) => item.id === id);
    const known = answers.get(id) ?? (pause === undefined ? await recordedAnswer(store, head, id, present) : undefined);
    if (known !== undefined) {
      if (equal(known.value, admitted)) continue;
      throw bad(head, `\`${id}\` has been answered already, with ${shorten(JSON.stringify(known.value))}`);
    }
    if (pause !== undefined && !isAnswerable(pause)) throw bad(head, notAnswerable(pause));
    if (pause === undefined) {
      const hint = open.length === 1 ? "; pass an answer without an id as `answer`" : "";
      throw bad(head, `no pause with the id \`${id}\` waits; ${whatWaits(open)}${hint}`);
    }
    const fitting = fit(head, pause, admitted);
    fresh.push({ pause, value: fitting });
    answers.set(id, { id, value: fitting });
  }
  return { answers, fresh };
}

function namedAnswers(
  head: Checkpoint,
  open: readonly PauseItem[],
  { answer, answers }: Pick<ResumeOptions, "answer" | "answers">,
): readonly (readonly [string, unknown])[] {
  const record = readRecord(answers ?? {});
  if (record instanceof Mismatch || answers === null) {
    throw bad(head, "`answers` is a record of answers by the ids of pauses; `answer` takes one without an id");
  }
  const named = Object.entries(record);
  if (answer === undefined) return named;
  // No pause waits, or the only pause was answered just before a crash: a repeated equal answer has no effect.
  const answerable = (open.length === 0 && head.pauses.length === 1 ? head.pauses : open).filter(isAnswerable);
  const [only] = answerable;
  if (only === undefined && open.length > 0) throw bad(head, notAnswerable(open[0]!));
  if (only === undefined) {
    const message =
      head.pauses.length === 0
        ? `thread \`${head.threadId}\` does not wait for an answer`
        : `every pause of thread \`${head.threadId}\` has its answer: resume the thread without one`;
    throw new ThreadError("NG_NOT_PAUSED", head.threadId, message);
  }
  if (answerable.length > 1) throw bad(head, `each answer needs the id of its pause; ${whatWaits(open)}`);
  return [...named, [only.id, answer]];
}

/** Timers end by themselves, and signals come from `signal`. */
function isAnswerable({ kind }: PauseItem): boolean {
  return kind !== "timer" && kind !== "signal";
}

export function isGate({ kind }: PauseItem): boolean {
  return kind === "before" || kind === "after";
}

function notAnswerable({ id, node, kind, payload }: PauseItem): string {
  if (kind === "timer") return `\`${id}\` is a timer of node \`${node}\`: it takes no answer, and ends at its due time`;
  return `\`${id}\` waits for the signal ${JSON.stringify(payload)}: send it with \`engine.signal\` or \`ngc signal\``;
}

function fit(head: Checkpoint, pause: PauseItem, value: Json): Json {
  const { expects } = pause;
  if (isGate(pause) && value !== true) {
    const gate = `\`${pause.id}\` is a gate (\`pause ${pause.kind}\` of node \`${pause.node}\`)`;
    throw bad(head, `${gate}: only the answer \`true\` releases it, not ${shorten(JSON.stringify(value))}`);
  }
  // Mutation point: answer-type
  if (expects === undefined) return value;
  const admitted = compileAdmit(expects.type, expects.types)(value);
  if (admitted instanceof Mismatch)
    throw bad(head, `the answer to \`${pause.id}\` does not fit: ${admitted.describe()}`);
  return admitted;
}

/** An answer is recorded in the checkpoint of the step that consumed it. Only a repeated answer needs this search. */
async function recordedAnswer(
  store: Store,
  head: Checkpoint,
  id: string,
  present: (id: string) => string,
): Promise<ConsumedAnswer | undefined> {
  const newest = head.answers.find((answer) => answer.id === id);
  if (newest !== undefined) return newest;
  let before: string | undefined = head.id;
  while (before !== undefined) {
    const options = { before, limit: 100 };
    const page: readonly Checkpoint[] = await asStoreError(() => store.list(head.threadId, options));
    for (const checkpoint of page) {
      const found = (checkpoint.answers ?? []).find((answer) => present(answer.id) === id);
      if (found !== undefined) return found;
    }
    before = page.at(-1)?.id;
  }
  return undefined;
}

function bad(head: Checkpoint, message: string): ThreadError {
  return new ThreadError("NG_BAD_ANSWER", head.threadId, message);
}

function whatWaits(open: readonly PauseItem[]): string {
  if (open.length === 0) return "no pause waits";
  const ids = listed(open.map(({ id }) => `\`${id}\``));
  return `${open.length === 1 ? "the waiting pause is" : "the waiting pauses are"} ${ids}`;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
