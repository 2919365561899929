/**
 * Compares the verdict of `check` on a graph with runs of the graph. Every proof must hold in each run. For every error
 * that claims a run, such a run must exist. Every problem of a run must have been reported. No two findings may
 * contradict each other.
 */
import { replayComputed } from "../../../cli/replay/computed-replay.ts";
import { failuresOf } from "../../../cli/replay/replay-finding.ts";
import { checkGraph, type CheckResult } from "../../../compiler/checks/check-graph.ts";
import { type BoundGraph, START } from "../../../compiler/bind/bound-graph.ts";
import { sourcesOf } from "../../../compiler/bind/edge-parts.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Table } from "../../../runtime/table/table.ts";
import { lowerGraph } from "../../../compiler/lower/lower.ts";
import { bindText } from "../../checks/support/bind-text.ts";
import { createChooser, nextScript } from "./choices.ts";
import { followTrace } from "./follow-trace.ts";
import type { Checker } from "./plant-compiler.ts";
import { AFTER_JUMPS, type Observed, observe, type Wiring, wiringOf } from "./observe-run.ts";
import { type Claims, readClaims } from "./read-verdict.ts";
import { createRunner, type ContextUse, type GraphRunner, MAX_STEPS, type RanGraph } from "./run-graph.ts";

/** A wrong verdict. */
export interface Mistake {
  /** What kind of mistake it is: findings of one kind have one cause as a rule. */
  readonly kind: string;
  readonly text: string;
}

export interface Judged {
  readonly text: string;
  readonly graph: BoundGraph;
  readonly wiring: Wiring;
  readonly checked: CheckResult;
  readonly claims: Claims;
  readonly mistakes: readonly Mistake[];
  readonly seen: Seen;
  /** Uses of the context that some run made. */
  readonly did: ReadonlySet<ContextUse>;
  readonly runs: number;
  /** Every choice was tried. */
  readonly exhausted: boolean;
  /** Traces that were followed, and those that were not found and may yet exist. */
  readonly traces: { readonly shown: number; readonly open: number };
}

/** What some run of the graph does. */
export interface Seen {
  readonly incomplete: ReadonlySet<string>;
  readonly violated: ReadonlySet<string>;
  readonly race: boolean;
  readonly noRoute: boolean;
  readonly completed: boolean;
  readonly cut: boolean;
}

export interface JudgeOptions {
  readonly seed: number;
  /** Number of runs of a graph with too many combinations of choices to try all. */
  readonly runs: number;
  /** The compiler under test; default this one. */
  readonly checker?: Checker;
}

/** `undefined` for a text that does not bind. */
export async function judge(text: string, options: JudgeOptions): Promise<Judged | undefined> {
  const checker = options.checker ?? { bindText, checkGraph };
  const { graphs } = checker.bindText(text);
  const planted = graphs.at(-1);
  // Runs and replays use the compiler without planted mistakes: the control flow that binding builds is lowered, too.
  const graph = options.checker === undefined ? planted : bindText(text).graphs.at(-1);
  if (planted === undefined || graph === undefined || graphs.some(({ hasErrors }) => hasErrors)) return undefined;
  const checked = checker.checkGraph(planted);
  // A refused form has no meaning to compare.
  if (checked.diagnostics.some(({ code }) => code === "NG109")) return undefined;
  const table = lowerGraph(graph);
  const wiring = wiringOf(table, graph);
  const claims = readClaims(checked.proofs, checked.diagnostics);
  const claimsOfFinally = readClaims(checked.proofs, checked.diagnostics, "finally");
  const runner = createRunner(table);
  const mistakes = new Map<string, Mistake>();
  const add = (kind: string, message: string): void => {
    if (!mistakes.has(kind)) mistakes.set(kind, { kind, text: message });
  };
  const isStarted = checked.diagnostics.every(({ code }) => code !== "NG103");
  const did = new Set<ContextUse>();
  const incomplete = new Set<string>();
  const violated = new Set<string>();
  const ran = new Set<string>();
  const fired = new Set<string>();
  let [race, noRoute, completed, cut] = [false, false, false, false];
  const unfinished: number[][] = [];
  const look = (run: RanGraph, isCut = false): void => {
    const observed = observe(wiring, run);
    // A run along a trace ends with it.
    const seen = isCut ? { ...observed, cut: false } : observed;
    for (const use of run.did) did.add(use);
    for (const id of run.result.incompleteBarriers) incomplete.add(id.id);
    for (const assertion of seen.violated) violated.add(assertion);
    for (const node of seen.ran) ran.add(node);
    for (const barrier of seen.fired) fired.add(barrier);
    race ||= seen.race !== undefined;
    noRoute ||= seen.noRoute !== undefined;
    completed ||= seen.completed || run.result.rollback !== undefined;
    cut ||= seen.cut;
    const { choices, given, did: uses } = run;
    if (seen.cut && unfinished.length < MOST_UNFINISHED && !uses.has("second run of a thread"))
      unfinished.push(choices.slice(0, given).map(({ chosen }) => chosen));
    for (const [kind, message] of brokenProofs(claimsOfRun(table, claims, claimsOfFinally), seen, run))
      add(kind, `${message}\n    ${shownRun(run)}`);
    for (const [kind, message] of unreported(checked, graph, claims, seen))
      add(kind, `${message}\n    ${shownRun(run)}`);
    if (run.finally !== undefined && !isCut && isStarted) lookAtEnd(run.finally);
  };
  const lookAtEnd = (part: RanGraph): void => {
    const seen = observe(wiring, part, "finally");
    for (const assertion of seen.violated) violated.add(assertion);
    for (const node of seen.ran) ran.add(node);
    race ||= seen.race !== undefined;
    noRoute ||= seen.noRoute !== undefined;
    const shown = `finally: ${shownRun(part)}`;
    for (const [kind, message] of brokenProofs(claimsOfFinally, seen, part)) {
      // The calls of the whole run are counted together.
      if (!kind.startsWith("NG605")) add(`${kind} (finally)`, `${message}\n    ${shown}`);
    }
    for (const [kind, message] of unreported(checked, graph, claimsOfFinally, seen))
      add(`${kind} (finally)`, `${message}\n    ${shown}`);
  };
  const { runs, exhausted } = await runMany(runner, options, look);
  for (const [kind, message] of contradictions(
    checked,
    claims,
    wiring.assertions.map(({ text: assertion }) => assertion),
    table.finally === undefined ? 1 : 2,
  ))
    add(kind, message);
  for (const { message, code } of checked.diagnostics) {
    for (const [, node = ""] of message.matchAll(/`(\w+)` (?:can )?never runs?\b(?! `)/g))
      if (ran.has(node)) add(`${code} says that a node never runs`, `${message}, and it runs`);
  }
  // A trace may begin with what an earlier run has left in memory.
  const hasMemory = table.channels.some(({ role }) => role === "memory");
  const isCertainRace = checked.diagnostics.some(({ code, severity }) => code === "NG401" && severity === "error");
  const isBroken = checked.diagnostics.some(
    ({ code, severity, message }) => code === "NG213" && severity === "error" && / at \w+`/.test(message),
  );
  let [shown, open] = [0, 0];
  const isReached = checked.diagnostics.every(({ code }) => !["NG201", "NG202", "NG301", "NG304"].includes(code));
  for (const finding of checked.diagnostics) {
    const { code, message, severity, trace = [] } = finding;
    if (severity === "info" || !isStarted) continue;
    const assertion = code === "NG213" ? /`([^`]+)`/.exec(message)?.[1] : undefined;
    const isShown = (run: RanGraph): boolean => {
      const seen = observe(wiring, run);
      if (assertion !== undefined) return seen.violated.has(assertion);
      if (code === "NG302" || code === "NG303") return run.steps.length >= trace.length;
      return code !== "NG401" || seen.race !== undefined;
    };
    // A certain race ends the run, even if a trace continues after it.
    const isOfFinally = trace[0]?.entry === "finally";
    if (isOfFinally) open++;
    else if (trace.length > 0 && (code === "NG401" || !isCertainRace)) {
      const found = await followTrace(runner, trace, options.seed, isShown, severity === "error" ? 80 : 20);
      if (found.run !== undefined) {
        shown++;
        look(found.run, true);
      } else if (severity === "error") {
        // A function can jump and return a value; the adversary does so with few values.
        const replayed = await replayComputed(graph, trace, {
          keepRaces: code === "NG401",
          accept: (run) => failuresOf(run, code).length > 0,
          tries: 300,
        });
        if (replayed !== undefined) shown++;
        else if (found.exhausted && !hasMemory)
          add(`${code} error with a trace that no run follows`, `${message}: ${JSON.stringify(trace)}`);
        else open++;
      } else open++;
    }
    if (severity !== "error" || !exhausted || isOfFinally || (isCertainRace && code !== "NG401")) continue;
    if (assertion !== undefined && !violated.has(assertion)) add("NG213 error without a run", message);
    if (code === "NG401" && !race) add("NG401 error without a run", message);
    if ((code === "NG302" || code === "NG303") && incomplete.size === 0 && !cut)
      add(`${code} error without a run`, message);
    if (["NG203", "NG204", "NG205", "NG208", "NG311"].includes(code) && !cut)
      add(`${code} error, and every run ends`, message);
    // A gap is reported for a node that never runs, too (a condition on the way can be opaque), and for one in whose step an assertion fails every run.
    const isRun = nodesOf(graph, finding).some((node) => ran.has(node) || node === (graph.entry ?? START));
    if (["NG501", "NG515"].includes(code) && !noRoute && isReached && isRun && !isBroken)
      add(`${code} error, and every run has a route`, message);
  }
  for (const script of claims.sound ? unfinished : []) {
    if (!(await canComplete(runner, script, options.seed)))
      add("NG310 sound, and no run from some input completes", `choices ${script.join()}`);
  }
  if (claims.sound && !completed && cut) add("NG310 sound, and no run completes or rolls back", "");
  return {
    text,
    graph,
    wiring,
    checked,
    claims,
    mistakes: [...mistakes.values()],
    seen: { incomplete, violated, race, noRoute, completed, cut },
    did,
    runs,
    exhausted,
    traces: { shown, open },
  };
}

/** The nodes that a finding about routes is about: it names them, or its place is in one of their edges. */
function nodesOf({ nodes, edges }: BoundGraph, { message, span }: Diagnostic): readonly string[] {
  const named = nodes.map(({ name }) => name).filter((name) => message.includes(`\`${name}\``));
  if (named.length > 0) return named;
  const own = edges.filter((edge) => edge.span.start <= span.start && span.end <= edge.span.end);
  return own.flatMap((edge) => sourcesOf(edge).map(({ name }) => name));
}

/** Inputs of runs that were cut, whose other runs are looked at. */
const MOST_UNFINISHED = 2;
const TRIES_TO_COMPLETE = 60;
/** A loop to a sampled bound takes its rounds: the later tries have more steps. */
const MANY_STEPS = 2000;

/** Whether some run with the choices of a script, which are those of the caller, completes or rolls back. */
async function canComplete(runner: GraphRunner, script: readonly number[], seed: number): Promise<boolean> {
  for (let count = 0; count < TRIES_TO_COMPLETE; count++) {
    const maxSteps = count < TRIES_TO_COMPLETE / 2 ? MAX_STEPS : MANY_STEPS;
    const [run] = await runner.run(createChooser(script, seed * 7927 + count), undefined, maxSteps);
    if (run === undefined || run.isLeft) return true;
    const { status, rollback } = run.result;
    if (status === "completed" || status === "paused" || rollback !== undefined) return true;
  }
  return false;
}

/** Maximum number of choices in the first run of a graph whose combinations are all tried. */
const MANY = 60;

async function runMany(
  runner: GraphRunner,
  { seed, runs: most }: JudgeOptions,
  look: (run: RanGraph) => void,
): Promise<{ readonly runs: number; readonly exhausted: boolean }> {
  let script: readonly number[] | undefined = [];
  const first = createChooser(script);
  let isLeft = false;
  const add = (ran: readonly RanGraph[]): void => {
    for (const run of ran) {
      isLeft ||= run.isLeft;
      look(run);
    }
  };
  add(await runner.run(first));
  let runs = 1;
  const product = first.made.reduce((all, { of }) => Math.min(1e6, all * of), 1);
  if (product <= MANY) {
    script = nextScript(first.made);
    for (; script !== undefined && runs < 2 * MANY; runs++) {
      const chooser = createChooser(script);
      add(await runner.run(chooser));
      script = nextScript(chooser.made);
    }
    // Memory may hold what earlier runs of the thread have left there: that is never exhausted.
    const hasMemory = runner.table.channels.some(({ role }) => role === "memory");
    if (script === undefined) return { runs, exhausted: !hasMemory && !isLeft };
  }
  for (let count = 0; count < most; count++, runs++) {
    add(await runner.run(createChooser([], seed * 1000 + count)));
  }
  return { runs, exhausted: false };
}

/** The claims about the main part. Calls are counted in the whole run, so both parts have to bound them. */
function claimsOfRun({ finally: ending }: Table, claims: Claims, { calls }: Claims): Claims {
  if (ending === undefined || claims.calls === undefined) return claims;
  const most = new Map(claims.calls.most);
  for (const [kind, count] of calls?.most ?? []) most.set(kind, (most.get(kind) ?? 0) + count);
  const isOpen = calls === undefined || calls.perAnswer || calls.perItem;
  return { ...claims, calls: isOpen ? undefined : { ...claims.calls, most } };
}

type Found = readonly (readonly [kind: string, message: string])[];

function brokenProofs(claims: Claims, seen: Observed, run: RanGraph): Found {
  const found: [string, string][] = [];
  if (claims.sound) {
    if (seen.incomplete.length > 0) found.push(["NG310 sound, and a run ends incomplete", seen.incomplete.join("; ")]);
    if (seen.noRoute !== undefined)
      found.push([
        `NG310 sound, and a run has no route${seen.noRoute.isFailedCondition ? " (a condition fails)" : ""}`,
        seen.noRoute.message,
      ]);
    const meetings = seen.meetings.filter((text) => !claims.joinsJumps || !text.endsWith(AFTER_JUMPS));
    if (meetings.length > 0) found.push(["NG310 sound, and branches meet without a barrier", meetings.join("; ")]);
  }
  for (const { node, most, perAnswer } of claims.rounds) {
    const times = (perAnswer ? seen.roundsPerAnswer : seen.rounds).get(node) ?? 0;
    if (times > most) found.push(["NG207 a loop has more rounds", `${node} runs ${times} times, not ${most}`]);
  }
  if (claims.steps !== undefined) {
    const steps = claims.steps.perAnswer ? seen.stepsPerAnswer : run.steps.length;
    if (steps > claims.steps.most) found.push(["NG210 a run has more steps", `${steps}, not ${claims.steps.most}`]);
  }
  if (claims.parallel !== undefined && seen.parallel > claims.parallel)
    found.push(["NG609 more nodes run in one step", `${seen.parallel}, not ${claims.parallel}`]);
  for (const text of seen.violated)
    if (claims.proven.has(text))
      found.push([
        `NG214 proven, and a run violates it (${text.split(" ").find((word) => ["before", "once", "eventually", "never", "at"].includes(word)) ?? ""})`,
        text,
      ]);
  if (claims.calls !== undefined && !claims.calls.perAnswer && !claims.calls.perItem) {
    for (const [kind, count] of run.calls) {
      const most = claims.calls.most.get(kind) ?? 0;
      if (count > most) found.push(["NG605 more calls", `${count} times a ${kind}, not ${most}`]);
    }
  }
  return found;
}

/** A loop that ends at a sampled bound has fewer rounds. */
const MOST_ROUNDS = MAX_STEPS / 2;

/** What goes wrong in a run, and nothing was said about it. */
function unreported({ diagnostics }: CheckResult, graph: BoundGraph, { endsLoops }: Claims, seen: Observed): Found {
  const found: [string, string][] = [];
  const has = (...codes: readonly string[]): boolean => diagnostics.some(({ code }) => codes.includes(code));
  const open = (property: string): boolean =>
    diagnostics.some(({ code, message }) => code === "NG900" && (message.includes(property) || property === ""));
  // Of a graph that is too large, another finding can refute soundness.
  const isRefuted = open("step bound") && has("NG307", "NG309", "NG316");
  if (seen.incomplete.length > 0 && !has("NG201", "NG301", "NG302", "NG303", "NG304") && !open("sound") && !isRefuted)
    found.push(["silent: a run ends incomplete", seen.incomplete.join("; ")]);
  if (seen.race !== undefined && !has("NG401") && !open("writers"))
    found.push(["silent: two nodes write one channel", seen.race]);
  if (seen.noRoute !== undefined && !seen.noRoute.isFailedCondition && !has("NG501", "NG515", "NG201") && !open(""))
    found.push(["silent: a run has no route", seen.noRoute.message]);
  for (const text of seen.violated) {
    if (
      !diagnostics.some(({ code, message }) => code === "NG213" && message.includes(`\`${text}\``)) &&
      !has("NG103") &&
      !open("assert") &&
      !open(text)
    )
      found.push(["silent: a run violates an assertion", text]);
  }
  const hasLimit = graph.declaration.statements.some((item) => item.kind === "Limit" && item.of === "steps");
  // What goes round through a pause is bounded by people.
  if (
    seen.cut &&
    !seen.isAnswered &&
    !hasLimit &&
    !(endsLoops && Math.max(...seen.rounds.values()) < MOST_ROUNDS) &&
    !has("NG203", "NG204", "NG205", "NG206", "NG208", "NG311") &&
    !open("")
  )
    found.push(["silent: a run goes round without end", ""]);
  if (seen.nullRead !== undefined && !has("NG403", "NG509")) found.push(["silent: a null is read", seen.nullRead]);
  return found;
}

/** Codes that rule out NG310. */
const UNSOUND: ReadonlySet<string> = new Set([
  "NG203",
  "NG204",
  "NG205",
  "NG208",
  "NG301",
  "NG302",
  "NG303",
  "NG304",
  "NG307",
  "NG309",
  "NG311",
  "NG316",
]);

/** Findings about nodes without a route. */
const NO_ROUTE: ReadonlySet<string> = new Set(["NG201", "NG501", "NG515"]);

function contradictions(
  { diagnostics, proofs, verdict }: CheckResult,
  claims: Claims,
  assertions: readonly string[],
  parts: number,
): Found {
  const found: [string, string][] = [];
  const loud = diagnostics.filter(({ severity }) => severity !== "info");
  const report = (kind: string, message: string): void => void found.push([`contradiction: ${kind}`, message]);
  if (claims.sound) {
    for (const { code, severity, message } of loud) {
      if (UNSOUND.has(code) || (severity === "error" && code !== "NG213" && code !== "NG411"))
        report(`NG310 and ${code}`, message);
    }
    if (diagnostics.some(({ code, message }) => code === "NG900" && message.includes("sound")))
      report("NG310 and NG900", "");
  }
  for (const text of claims.refuted.keys()) if (claims.proven.has(text)) report("NG213 and NG214", text);
  // A loop can have a bound in one part of a graph and none in the other.
  if (parts === 1 && claims.steps !== undefined && !claims.steps.perAnswer) {
    for (const { code, message } of loud)
      if (["NG204", "NG206", "NG208", "NG311"].includes(code)) report(`NG210 and ${code}`, message);
  }
  for (const { node, perAnswer } of claims.rounds) {
    if (perAnswer || parts === 2) continue;
    for (const { code, message } of loud)
      if (["NG204", "NG206", "NG208", "NG311"].includes(code) && message.includes(`${node} `))
        report(`NG207 and ${code}`, message);
  }
  for (const { code, message } of parts === 1 ? loud : []) {
    const loop = /`(\w+ -> [^`]+)`/.exec(message)?.[1];
    if (
      code === "NG206" &&
      loop !== undefined &&
      proofs.some((proof) => proof.message.includes(`\`${loop}\` ends when`))
    )
      report("NG206 and NG207", message);
  }
  if (verdict !== undefined) {
    const { kind, open } = verdict;
    const isNamed = (text: string): boolean => open.some(({ property }) => property.includes(text));
    const refuting = loud.filter(({ code }) => UNSOUND.has(code) || code === "NG213" || code === "NG401");
    const text = verdict.text;
    if (kind === "sound" && !claims.sound) report("the verdict is sound, without NG310", text);
    if (kind === "sound" && refuting.some(({ severity }) => severity === "error"))
      report("the verdict is sound, with errors", text);
    if (kind === "unsound" && refuting.length + diagnostics.filter(({ code }) => NO_ROUTE.has(code)).length === 0)
      report("the verdict is unsound, without a finding", text);
    if (kind === "not proven" && open.every(({ isMinor }) => isMinor === true))
      report("the verdict is not proven, without an open property", text);
    for (const { property, why } of open) {
      if (why.trim() === "") report("an open property without a reason", property);
      const isShown = diagnostics.some(({ code, message }) => code === "NG900" && message.includes(property));
      if (!isShown && !(kind === "unsound" && property === "soundness"))
        report("an open property without NG900", property);
    }
    if (kind !== "unsound" && !claims.sound && !isNamed("soundness"))
      report("soundness is neither proven nor open", text);
    for (const assertion of assertions) {
      const isDecided = claims.proven.has(assertion) || claims.refuted.get(assertion) === "error";
      if (!isDecided && !isNamed(assertion) && !claims.refuted.has(assertion))
        report("an assertion is neither decided nor open", assertion);
    }
  }
  const texts = proofs.map(({ message }) => message);
  if (new Set(texts).size < texts.length) report("one proof twice", "");
  return found;
}

export function shownRun({ steps, result }: RanGraph): string {
  const shown = steps.map(({ nodes, routes }) => {
    const ways = routes.map(({ node, via, targets }) => `${node} ${via} ${targets.join("+")}`);
    return `[${nodes.join(", ")}]${ways.length > 0 ? ` (${ways.join("; ")})` : ""}`;
  });
  return `${shown.join(" ").slice(0, 1500)} ${result.status}${result.error === null ? "" : `: ${result.error.message}`}`;
}
