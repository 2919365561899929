/** The random user of a thread: resumes with answers, further turns, forks, edits, and calls that must be refused. */
import type { Checkpoint, CheckpointId } from "../../runtime/interface/checkpoint.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { Act, Plan } from "./acts.ts";
import type { Ledger } from "./ledger.ts";
import { answerTo, type Model } from "./model.ts";
import { below, chance, pick, type Random } from "./random.ts";
import type { Position } from "./position.ts";
import { withDigests } from "./task-names.ts";
import type { Version } from "./versions.ts";
import type { World } from "./world.ts";

const SPECIAL = [
  "turn",
  "fork",
  "resume from",
  "go at",
  "edit",
  "edit as",
  "label",
  "answers",
  "refused",
  "drift",
] as const;
type Special = (typeof SPECIAL)[number];

/** The user of a seed. */
export interface Script {
  readonly random: Random;
  readonly kinds: readonly Special[];
  /** Number of acts besides resumes that are left. */
  left: number;
  thread: string;
  /** Other threads, created by forks. */
  readonly threads: string[];
  readonly labels: Map<string, CheckpointId>;
  /** Number of times a lasting failure was met: the second time shows that it lasts. */
  failures: number;
  /** Another version of the table, from some time on. */
  drifts: boolean;
  /** The graph is edited between processes: each has one of two versions. */
  versions: Random | undefined;
}

type ReadStore = World["store"];

export function randomScript(random: Random): Script {
  const kinds = SPECIAL.filter(() => chance(random, 0.5));
  return {
    random,
    kinds,
    left: kinds.length === 0 || chance(random, 0.3) ? 0 : 1 + below(random, 3),
    thread: "t0",
    threads: ["t0"],
    labels: new Map(),
    failures: 0,
    drifts: false,
    versions: undefined,
  };
}

/** `undefined`: the thread is done. */
export function planNext(script: Script, model: Model, world: World, ledger: Ledger, hurry: boolean): Plan | undefined {
  const { random } = script;
  const { store } = world;
  const head = store.loadLatest(script.thread);
  if (head === undefined) {
    if (script.thread === "t0") return act(script, { kind: "run", input: below(random, 20), abandon: false });
    // The fork was never stored.
    script.thread = "t0";
    return planNext(script, model, world, ledger, hurry);
  }
  const at = ledger.at(head.id);
  if (at === undefined) return undefined;
  const rests = isAtRest(script, head, at, ledger);
  if (script.left > 0 && !hurry && chance(random, rests ? 1 : 0.25)) {
    script.left--;
    const plan = special(script, model, world, ledger, head, at);
    if (plan !== undefined) {
      ledger.allowMore();
      script.failures = 0;
      return plan;
    }
  }
  if (rests) {
    // The other threads run to their ends too.
    const other = script.threads.findIndex((thread) => thread !== script.thread);
    if (other === -1) return undefined;
    script.threads.splice(script.threads.indexOf(script.thread), 1);
    script.thread = script.threads[0]!;
    script.failures = 0;
    return planNext(script, model, world, ledger, hurry);
  }
  return act(script, resume(random, head, store, hurry));
}

const [PLAIN, MARKED]: readonly [Version, Version] = ["plain", "marked"];

function act({ thread, drifts, versions }: Script, what: Act): Plan {
  const version = versions === undefined ? {} : { version: chance(versions, 0.5) ? MARKED : PLAIN };
  return { act: what, thread, ...(drifts ? { drift: { adds: true } } : {}), ...version };
}

/** A further resume changes nothing. */
function isAtRest(script: Script, head: Checkpoint, at: Position, ledger: Ledger): boolean {
  const { status } = head;
  if (status === "completed" || status === "incomplete") return true;
  const end = ledger.end(at);
  if (end.at !== at || end.status === "over") return false;
  if (status === "limit") return end.status === "limit";
  return status === "failed" && end.status === "failed" && script.failures++ > 0;
}

/** Answers to some or all of the waiting pauses. */
function resume(random: Random, head: Checkpoint, store: ReadStore, all: boolean): Act {
  const asked = head.pauses.filter(({ kind }) => kind === "interrupt");
  if (asked.length === 0 && chance(random, 0.5)) return { kind: "resume" };
  const chosen = head.pauses.filter(() => all || chance(random, 0.7));
  const some = chosen.length === 0 ? head.pauses : chosen;
  if (some.length === 0) return { kind: "resume" };
  const [only] = head.pauses;
  const isClean =
    store.getWrites(head.threadId, head.id).length === 0 && head.answers.every(({ id }) => id !== only!.id);
  if (head.pauses.length === 1 && isClean && only!.kind === "interrupt" && chance(random, 0.3))
    return { kind: "resume", answer: answerTo(only!.payload) };
  const answers = some.map(({ id, kind, payload }) => [id, kind === "interrupt" ? answerTo(payload) : true] as const);
  return { kind: "resume", answers: Object.fromEntries(answers) };
}

function special(
  script: Script,
  model: Model,
  world: World,
  ledger: Ledger,
  head: Checkpoint,
  at: Position,
): Plan | undefined {
  const { random, thread } = script;
  const { store } = world;
  const isOver = head.status === "completed" || head.status === "incomplete";
  const isEmpty = at.ready.length + at.sends.length === 0;
  switch (pick(random, script.kinds)) {
    case "turn":
      return act(script, { kind: "run", input: below(random, 20), abandon: !isOver });
    case "fork": {
      const { source, from } = origin(script, store, world);
      if (chance(random, 0.4)) return act(script, { kind: "fork", source, from });
      const as = `t${script.threads.length}-${script.left}`;
      const plan = act(script, {
        kind: "fork",
        source,
        from,
        as,
        ...(chance(random, 0.3) ? { at: below(random, model.nodes.length) } : {}),
      });
      script.threads.push(as);
      if (chance(random, 0.7)) script.thread = as;
      return plan;
    }
    case "resume from": {
      const { source, from } = origin(script, store, world);
      const known = store.loadById(thread, source)!;
      // A run that has ended cannot be resumed.
      const isDone = known.status === "completed" || known.status === "incomplete";
      if (source === head.id || isDone) return undefined;
      return act(script, { kind: "resume from", source, from });
    }
    case "go at": {
      const { source, from } = origin(script, store, world);
      return act(script, { kind: "resume from", source, from, at: below(random, model.nodes.length) });
    }
    case "edit":
      if (callsAgain(model, ledger, store, head, at)) return undefined;
      return act(script, { kind: "update", ...edit(random) });
    case "edit as":
      return act(script, { kind: "update", ...edit(random), as: below(random, model.nodes.length) });
    case "label": {
      const { source } = origin(script, store, world);
      const label = `label ${below(random, 2)}`;
      script.labels.set(label, source);
      return act(script, { kind: "label", checkpoint: source, label });
    }
    case "answers": {
      // A repeated answer is accepted; a different one is an error (6.2).
      const recorded = store.list(thread, { limit: 100 }).flatMap(({ answers }) => answers);
      if (recorded.length === 0) return undefined;
      const { id, value } = pick(random, recorded);
      if (chance(random, 0.5)) return act(script, { kind: "resume", answers: { [id]: value } });
      const plan = act(script, { kind: "resume", answers: { [id]: "something else" } });
      return { ...plan, refusal: "NG_BAD_ANSWER" };
    }
    case "refused":
      return refused(script, head, isOver);
    case "drift": {
      if (script.drifts || (chance(random, 0.3) && !isEmpty)) {
        script.drifts = true;
        return undefined;
      }
      const next = [...at.ready, ...at.sends.map(({ node }) => node)];
      if (isOver || next.length === 0) return undefined;
      const plan = act(script, { kind: "resume" });
      return { ...plan, refusal: "NG_DRIFT", drift: { renames: model.nodes[pick(random, next)]!.name } };
    }
  }
}

function refused(script: Script, head: Checkpoint, isOver: boolean): Plan {
  const { random } = script;
  if (isOver) return { ...act(script, { kind: "resume" }), refusal: "NG_NOT_PAUSED" };
  switch (below(random, 4)) {
    case 0:
      return { ...act(script, { kind: "resume", answers: { "nobody@0.x": 1 } }), refusal: "NG_BAD_ANSWER" };
    case 1: {
      const from = "no such checkpoint";
      return { ...act(script, { kind: "resume from", source: from, from }), refusal: "NG_UNKNOWN_CHECKPOINT" };
    }
    case 2: {
      const plan = act(script, { kind: "fork", source: head.id, from: head.id, as: script.thread });
      return { ...plan, refusal: "NG_THREAD_BUSY" };
    }
    default:
      return { ...act(script, { kind: "run", input: 1, abandon: false }), refusal: "NG_THREAD_BUSY" };
  }
}

/** A checkpoint of the thread, and the name that the act uses for it. */
function origin({ random, thread, labels }: Script, store: ReadStore, world: World) {
  const list = store.list(thread, { limit: 100 });
  const source = chance(random, 0.3) ? list[0]!.id : pick(random, list).id;
  const label = [...labels].find(([, id]) => id === source)?.[0];
  // The id is known to the store; a fault may have hidden it from the user.
  const isKnown = label !== undefined && store.loadByLabel(thread, label)?.id === source;
  if (isKnown) world.cover("a checkpoint by its label");
  return { source, from: isKnown ? label : source };
}

function edit(random: Random): { readonly values: JsonObject; readonly replace: boolean } {
  const replace = chance(random, 0.4);
  const all: Record<string, Json> = {
    counter: 1 + below(random, 4),
    solo: `edit ${below(random, 9)}`,
    diary: ["edit"],
    total: below(random, 9),
    ...(replace ? { log: ["edit"], picky: below(random, 9) } : { last: "edit" }),
  };
  const chosen = Object.entries(all).filter(() => chance(random, 0.4));
  return { values: Object.fromEntries(chosen.length === 0 ? [["counter", 1]] : chosen), replace };
}

/** A called graph that has started continues with its original arguments. A retry would receive other ones. */
function callsAgain(model: Model, ledger: Ledger, store: ReadStore, head: Checkpoint, at: Position): boolean {
  if (at.ready.length + at.sends.length === 0) return false;
  return Object.keys(ledger.step(at).leaves).some((id) => {
    const node = model.nodes.find(({ name }) => name === id.replace(/[[~].*/, ""))!;
    if (node.graph === undefined || node.tries === 1) return false;
    return store.loadLatest(head.threadId, id)?.runId === withDigests(`${head.runId}/${id}@${at.step}`);
  });
}
