/** The types of generated modules: the engine of a graph, with the types of its channels, nodes, pauses and events. */
import type {
  BareAnswer,
  Bindings,
  CheckpointRef,
  Engine,
  EngineOptions,
  ForkOptions,
  ResumeOptions,
  RunOptions,
  RunResult,
  RunStatus,
  SignalOptions,
  SignalReceipt,
  StreamOptions,
  UpdateOptions,
  ViewsOptions,
} from "../runtime/interface/engine-options.ts";
import type { NodeContext } from "../runtime/interface/context.ts";
import type { PauseItem, PauseKind, ThreadId } from "../runtime/interface/checkpoint.ts";
import type { RunEvent, StreamViews } from "../runtime/interface/events.ts";
import type { Table } from "../runtime/table/table.ts";
import type { Json } from "../runtime/value/json.ts";

/** What a generated module declares about a graph. */
export interface GraphTypes {
  readonly input: object;
  readonly output: object;
  /** The outputs of a completed run. */
  readonly completed: object;
  readonly state: object;
  readonly config: object;
  /** The names of its nodes. */
  readonly node: string;
  /** The names of its nodes and of those of all graphs that it calls. */
  readonly task: string;
  readonly pause: AnyPause;
  /** The names of the signals that its nodes and those of called graphs receive; `string` if one computes the name. */
  readonly signal: string;
  /** The values of signals, by those names that are not computed. */
  readonly signals: object;
  /** Values for `update`. */
  readonly update: object;
  /** The value of each channel in `write` events, those of called graphs included. */
  readonly writes: object;
}

type AnyPause = Omit<PauseItem, "payload"> & { readonly payload: unknown; readonly answer?: unknown };

/** A pause of one kind at one node. */
export type Waiting<Node extends string, Kind extends PauseKind, Payload> = Omit<
  PauseItem,
  "node" | "kind" | "payload"
> & { readonly node: Node; readonly kind: Kind; readonly payload: Payload };

/** A pause that an answer ends. `answer` is a type alone: no value has it. */
type Answered<Node extends string, Kind extends PauseKind, Payload, Answer> = Waiting<Node, Kind, Payload> & {
  readonly answer?: Answer;
};

/** The question of an `ask` node. */
export type Question<Node extends string, Answer> = Answered<
  Node,
  "interrupt",
  { readonly question: string; readonly choices?: readonly string[]; readonly details?: Json },
  Answer
>;

/** A pause of a function that calls `context.interrupt`. */
export type Interrupt<Node extends string> = Answered<Node, "interrupt", Json, Json>;

/** A pause before or after a node, which `true` ends. */
export type Gate<Node extends string> = Answered<Node, "before" | "after", null, true>;

type AnswerOf<Pause> = Pause extends { readonly kind: PauseKind }
  ? "answer" extends keyof Pause
    ? Exclude<Pause["answer"], undefined>
    : never
  : never;

/** An answer to a pause of a graph. */
export type GraphAnswer<T extends GraphTypes> = AnswerOf<T["pause"]>;

/** What follows the name of a signal: its value, which may be left out if it may be `null`, and the options. */
export type GraphSignal<T extends GraphTypes, Name extends string> =
  null extends SignalValue<T, Name>
    ? [value?: SignalValue<T, Name>, options?: SignalOptions]
    : [value: SignalValue<T, Name>, options?: SignalOptions];

/** A signal with a computed name may have any value. */
type SignalValue<T extends GraphTypes, Name extends string> = Name extends keyof T["signals"]
  ? T["signals"][Name]
  : Json;

/** The result of a run, by its status: a completed run has written its outputs. */
export type GraphResult<T extends GraphTypes> =
  | (Omit<RunResult<T["completed"], T["state"]>, "status" | "error" | "pauses"> & {
      readonly status: "completed";
      readonly error: null;
      readonly pauses: readonly [];
    })
  | (Omit<RunResult<T["output"], T["state"]>, "status" | "pauses"> & {
      readonly status: Exclude<RunStatus, "completed">;
      readonly pauses: readonly T["pause"][];
    });

/** An event of a run, with the names of nodes and the types of channels. */
export type GraphEvent<T extends GraphTypes> = EventOf<RunEvent, T>;

type EventOf<Event, T extends GraphTypes> = Event extends { readonly type: "write" }
  ? {
      readonly [Channel in keyof T["writes"] & string]: Omit<Event, "node" | "channel" | "value"> & {
        readonly node: T["task"];
        readonly channel: Channel;
        readonly value: Plain<T["writes"][Channel]>;
      };
    }[keyof T["writes"] & string]
  : Event extends { readonly type: "pause" }
    ? Omit<Event, "pauses"> & { readonly pauses: readonly T["pause"][] }
    : Event extends { readonly node: string }
      ? Omit<Event, "node"> & { readonly node: T["task"] }
      : Event;

/** A type as JSON: interfaces become types that are assignable to `Json`, so that a listener for all graphs fits. */
type Plain<T> = unknown extends T ? Json : T extends object ? { readonly [Key in keyof T]: Plain<T[Key]> } : T;

/** The views of a stream. */
export interface GraphViews<T extends GraphTypes> extends Omit<StreamViews<T["state"]>, "events"> {
  readonly events: GraphEvent<T>;
}

/** A stream of a graph's runs. */
export interface GraphStream<Item, T extends GraphTypes> extends AsyncIterable<Item> {
  /** Settles when the run ends, whether or not the items are read. */
  readonly result: Promise<GraphResult<T>>;
}

/** Options that name nodes, with the names of the graph. A node of a called graph is `call/node`. */
type Naming<Options, T extends GraphTypes> = Omit<Options, "at" | "onEvent" | "pauseBefore" | "pauseAfter"> & {
  readonly onEvent?: (event: GraphEvent<T>) => void;
  readonly pauseBefore?: readonly (T["node"] | `${T["node"]}/${string}`)[];
  readonly pauseAfter?: readonly (T["node"] | `${T["node"]}/${string}`)[];
};

/** The options of a generated graph's function: the engine's options without the code, which the module contains. */
export interface GraphOptions<T extends GraphTypes = GraphTypes> extends Omit<
  EngineOptions,
  keyof Bindings | "onEvent" | "mocks"
> {
  readonly onEvent?: (event: GraphEvent<T>) => void;
  /** Bodies that replace the calls of nodes, for tests: see `EngineOptions`. */
  readonly mocks?: { readonly [Node in T["node"]]?: (context: NodeContext) => unknown };
}

export type GraphRunOptions<T extends GraphTypes> = Naming<RunOptions<T["config"]>, T>;

export type GraphResumeOptions<T extends GraphTypes> = Omit<
  Naming<ResumeOptions<T["config"]>, T>,
  "answer" | "answers"
> & {
  /** The answer, if exactly one pause waits. */
  readonly answer?: GraphAnswer<T>;
  /** Answers by pause id, or the answer itself if exactly one pause waits. */
  readonly answers?: Readonly<Record<string, GraphAnswer<T>>> | Extract<GraphAnswer<T>, BareAnswer>;
  /** The node to resume at, instead of the next nodes. */
  readonly at?: T["node"];
};

export type GraphForkOptions<T extends GraphTypes> = Omit<ForkOptions<T["config"]>, "at"> & {
  /** The node that a resume of the fork starts with. */
  readonly at?: T["node"];
};

export type GraphUpdateOptions<T extends GraphTypes> = Omit<UpdateOptions<T["config"]>, "as" | "set"> & {
  /** Routes as if this node had written the values; `start` and `end` as in the engine's options. */
  readonly as?: T["task"] | "start" | "end";
  /** Channels whose old values are replaced instead of applying their reducers. */
  readonly set?: readonly (keyof T["writes"] & string)[];
};

/** The engine of a generated graph: as `Engine`, with the types of the graph. */
export interface Graph<T extends GraphTypes> extends Omit<
  Engine<T["input"], T["output"], T["state"], T["config"]>,
  "run" | "resume" | "rollback" | "stream" | "streamResume" | "fork" | "update" | "signal"
> {
  run(input: T["input"], options?: GraphRunOptions<T>): Promise<GraphResult<T>>;
  /** As `Engine.resume`. A string, number or boolean in place of the options answers the one pause that waits. */
  resume(
    thread: ThreadId,
    options?: GraphResumeOptions<T> | Extract<GraphAnswer<T>, BareAnswer>,
  ): Promise<GraphResult<T>>;
  rollback(thread: ThreadId, options?: Parameters<Engine["rollback"]>[1]): Promise<GraphResult<T>>;
  stream<View extends keyof GraphViews<T>>(
    input: T["input"],
    options: GraphRunOptions<T> & ViewsOptions<View>,
  ): GraphStream<{ readonly [Each in View]: { readonly view: Each; readonly item: GraphViews<T>[Each] } }[View], T>;
  stream<View extends keyof GraphViews<T> = "events">(
    input: T["input"],
    options?: GraphRunOptions<T> & StreamOptions<View>,
  ): GraphStream<GraphViews<T>[View], T>;
  streamResume<View extends keyof GraphViews<T>>(
    thread: ThreadId,
    options: GraphResumeOptions<T> & ViewsOptions<View>,
  ): GraphStream<{ readonly [Each in View]: { readonly view: Each; readonly item: GraphViews<T>[Each] } }[View], T>;
  streamResume<View extends keyof GraphViews<T> = "events">(
    thread: ThreadId,
    options?: GraphResumeOptions<T> & StreamOptions<View>,
  ): GraphStream<GraphViews<T>[View], T>;
  /** As `Engine.fork`. */
  fork(thread: ThreadId, options?: GraphForkOptions<T>): Promise<CheckpointRef>;
  /** As `Engine.update`. With `in` the values are those of the called graph. */
  update(
    thread: ThreadId,
    values: T["update"],
    options?: GraphUpdateOptions<T> & { readonly in?: never },
  ): Promise<CheckpointRef>;
  update(
    thread: ThreadId,
    values: Readonly<Record<string, unknown>>,
    options: GraphUpdateOptions<T> & { readonly in: string },
  ): Promise<CheckpointRef>;
  /** As `Engine.signal`. The value has the type that the node stores; if several nodes receive the signal, that of one of them. */
  signal<Name extends T["signal"]>(
    thread: ThreadId,
    name: Name,
    ...signal: GraphSignal<T, Name>
  ): Promise<SignalReceipt>;
}

/** A graph as a module holds it. */
export interface GeneratedGraph {
  readonly table: Table;
  readonly bindings: Bindings;
}
