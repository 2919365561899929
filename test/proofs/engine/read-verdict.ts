import type { Proof } from "../../../compiler/checks/check-graph.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";

/** What `check` claims of all runs of a graph, read back from its proofs. */
export interface Claims {
  readonly sound: boolean;
  /** Branches of one jump may meet in one step. */
  readonly joinsJumps: boolean;
  /** NG207 without a number: a counter ends a loop. */
  readonly endsLoops: boolean;
  /** NG207: by node, its maximum number of runs. */
  readonly rounds: readonly { readonly node: string; readonly most: number; readonly perAnswer: boolean }[];
  /** NG210. */
  readonly steps: { readonly most: number; readonly perAnswer: boolean } | undefined;
  /** NG214 and NG213, by the text of the assertion. */
  readonly proven: ReadonlySet<string>;
  readonly refuted: ReadonlyMap<string, "error" | "warning">;
  /** NG609. */
  readonly parallel: number | undefined;
  /** NG605: by kind of external call. */
  readonly calls:
    { readonly most: ReadonlyMap<string, number>; readonly perAnswer: boolean; readonly perItem: boolean } | undefined;
}

const OF_FINALLY = "`finally`: ";

/** The claims about the runs from `start`, or about the `finally` part. Soundness and assertions are about both. */
export function readClaims(
  proofs: readonly Proof[],
  diagnostics: readonly Diagnostic[],
  entry: "start" | "finally" = "start",
): Claims {
  const texts = (code: string): string[] =>
    proofs.flatMap((proof) => {
      if (proof.code !== code) return [];
      const isOfFinally = proof.message.startsWith(OF_FINALLY);
      if (isOfFinally) return entry === "finally" ? [proof.message.slice(OF_FINALLY.length)] : [];
      return entry === "start" || code === "NG310" || code === "NG214" ? [proof.message] : [];
    });
  const quoted = (message: string): string => /`([^`]+)`/.exec(message)?.[1] ?? "";
  const rounds = texts("NG207");
  const isWithoutNumber = (message: string): boolean => message.includes(" ends when ");
  const [steps] = texts("NG210");
  const [parallel] = texts("NG609");
  const [calls] = texts("NG605");
  return {
    sound: texts("NG310").length > 0,
    joinsJumps: texts("NG310").some((message) => message.includes("those of one jump")),
    endsLoops: rounds.some(isWithoutNumber),
    rounds: rounds
      .filter((message) => !isWithoutNumber(message))
      .map((message) => ({
        node: quoted(message),
        most: message.includes(" at most once") ? 1 : numberIn(message, /at most (\d+) times/),
        perAnswer: message.includes("between two pauses"),
      })),
    steps:
      steps === undefined
        ? undefined
        : { most: numberIn(steps, /(\d+) steps?/), perAnswer: steps.includes("without a pause") },
    proven: new Set(texts("NG214").map(quoted)),
    refuted: new Map(
      diagnostics.flatMap(({ code, message, severity }) =>
        code === "NG213" && severity !== "info" ? [[quoted(message), severity] as const] : [],
      ),
    ),
    parallel:
      parallel === undefined
        ? undefined
        : parallel.startsWith("one node")
          ? 1
          : numberIn(parallel, /at most (\d+) nodes/),
    calls:
      calls === undefined
        ? undefined
        : {
            most: new Map(
              ["model call", "request", "shell command", "tool call"].flatMap((kind) => {
                const found = new RegExp(`(\\d+) ${kind}`).exec(calls);
                return found === null ? [] : [[kind, Number(found[1])] as const];
              }),
            ),
            perAnswer: calls.includes("between two pauses"),
            perItem: calls.includes("an item of a `for`"),
          },
  };
}

function numberIn(message: string, pattern: RegExp): number {
  const found = pattern.exec(message);
  if (found === null) throw new Error(`no number in the proof: ${message}`);
  return Number(found[1]);
}
