/** The messages between the page and its workers, besides those of the language server. All of them are plain data. */
import type { DiagnosticJson } from "../diagnostics/render/json.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import type { ProjectFiles } from "./project.ts";

/** What the page asks a worker. `id` returns with the answer. */
export type Request =
  | { readonly id: number; readonly kind: "analyse"; readonly files: ProjectFiles; readonly main: string }
  | {
      readonly id: number;
      readonly kind: "run";
      readonly files: ProjectFiles;
      readonly main: string;
      readonly run: RunSettings;
    }
  | { readonly id: number; readonly kind: "answer"; readonly answer: Answer };

export type Response =
  | { readonly id: number; readonly kind: "done"; readonly value: unknown }
  /** A sentence for the reader. */
  | { readonly id: number; readonly kind: "refused"; readonly message: string };

/** What the page shows of a text. */
export interface Analysis {
  /** The text in the other spelling; absent where the text has syntax errors. */
  readonly other?: string;
  /** What the other spelling cannot say. */
  readonly lost: readonly string[];
  readonly findings: readonly Finding[];
  readonly graphs: readonly GraphView[];
}

export interface Finding extends DiagnosticJson {
  /** The graph whose picture shows the trace; absent without a trace from `start`. */
  readonly graph?: string;
}

export interface GraphView {
  readonly name: string;
  readonly kind: "graph" | "plan";
  /** `sound`, `unsound: …` or `not proven: …`; absent where errors come first. */
  readonly verdict?: string;
  readonly proofs: readonly string[];
  readonly svg?: string;
  /** Where the nodes are in the text, by name. */
  readonly places: Readonly<Record<string, number>>;
  /** Why there is no picture. */
  readonly problem?: string;
  /** Absent where the graph cannot run. */
  readonly runnable?: Runnable;
}

/** What a run in the page needs. */
export interface Runnable {
  readonly inputs: readonly {
    readonly name: string;
    readonly type: string;
    readonly value: Json;
    readonly isOptional: boolean;
  }[];
  /** The nodes that do not run in a page: their results are given. */
  readonly mocked: readonly { readonly node: string; readonly call: string; readonly value: Json }[];
}

export interface RunSettings {
  readonly graph: string;
  readonly input: JsonObject;
  /** The results of a node, one for each of its runs; the last one is repeated. */
  readonly mocks: Readonly<Record<string, readonly Json[]>>;
}

/** A value for a pause, or for a signal; `null` where the time passes instead. */
export interface Answer {
  readonly answers: Readonly<Record<string, Json>>;
  readonly signals: readonly { readonly name: string; readonly value: Json }[];
  /** The id of a pause until whose deadline time passes. */
  readonly late?: string;
}

/** A run up to its end or its next pause. */
export interface RunState {
  readonly status: string;
  readonly steps: readonly RunStep[];
  /** How many further steps there were. */
  readonly cut: number;
  readonly state: JsonObject;
  readonly pauses: readonly Pause[];
  readonly error?: string;
  readonly next: readonly string[];
}

export interface RunStep {
  readonly ran: readonly string[];
  /** What the step wrote, by channel. */
  readonly wrote: JsonObject;
}

export interface Pause {
  readonly id: string;
  readonly node: string;
  readonly kind: string;
  readonly payload: Json;
  readonly choices?: readonly Json[];
  /** Whether the wait for a person or a signal ends by itself. */
  readonly hasDeadline: boolean;
}
