/** The operations of the service: one description is the routes, the checks of requests and the OpenAPI document. */
import type { Action } from "./access.ts";
import type { Fields } from "./fields.ts";

export interface Operation {
  readonly id: string;
  readonly method: "get" | "post" | "put";
  /** With parameters in braces. */
  readonly path: string;
  /** The permission that it needs; absent: none beyond valid credentials. */
  readonly action?: Action;
  readonly summary: string;
  readonly body?: Fields;
  readonly query?: Fields;
  /** The schema of the answer, by name in the OpenAPI document. */
  readonly answer?:
    | "Result"
    | "Thread"
    | "Threads"
    | "History"
    | "Checkpoint"
    | "Signal"
    | "Graph"
    | "Graphs"
    | "Test"
    | "PlanRuns"
    | "PlanRun"
    | "PlanRunSummary"
    | "PlanLog";
  /** The media type of an answer that is no JSON. */
  readonly media?: "image/svg+xml";
  /** Status of the answer; default 200. */
  readonly status?: number;
  /** Whether the answer is 202 when the request prefers not to wait for the end. */
  readonly mayBeAsync?: true;
  /** Whether the answer may be a stream of events. */
  readonly streams?: "always" | "on-request";
}

const METADATA = { kind: "record", description: "Stored with each checkpoint of the run" } as const;
const CONFIG = { kind: "record", description: "Values of the configuration, by name" } as const;
const EXECUTE = {
  metadata: METADATA,
  ttl: { kind: "count", least: 1, isNullable: true, description: "Milliseconds until the thread expires; null: never" },
  maxSteps: { kind: "count", least: 1, description: "Maximum steps; at most the limit of the graph" },
  maxTokens: { kind: "count", least: 1, description: "Maximum tokens; at most the limit of the graph" },
  maxCost: { kind: "amount", description: "Maximum cost; at most the limit of the graph" },
  pauseBefore: { kind: "texts", description: "Nodes before which this call pauses" },
  pauseAfter: { kind: "texts", description: "Nodes after which this call pauses" },
} as const satisfies Fields;

const LIMIT = { kind: "count", least: 1, most: 1000, description: "The size of a page; default 100" } as const;

export const OPERATIONS = {
  graphs: { id: "graphs", method: "get", path: "/graphs", summary: "Lists the graphs", answer: "Graphs" },
  graph: {
    id: "graph",
    method: "get",
    path: "/graphs/{graph}",
    action: "read",
    summary: "Describes a graph: the schemas of its inputs, outputs and configuration",
    answer: "Graph",
  },
  picture: {
    id: "picture",
    method: "get",
    path: "/graphs/{graph}/picture",
    action: "read",
    summary: "The picture of a graph as SVG",
    media: "image/svg+xml",
  },
  run: {
    id: "run",
    method: "post",
    path: "/graphs/{graph}/runs",
    action: "run",
    summary: "Starts a run and waits for its end or its next pause",
    body: {
      input: { kind: "record", description: "The inputs, by name" },
      thread: { kind: "thread", description: "The name of the thread; default: a generated one" },
      abandon: { kind: "flag", description: "Abandons an unfinished run of the thread" },
      config: CONFIG,
      ...EXECUTE,
    },
    answer: "Result",
    mayBeAsync: true,
    streams: "on-request",
  },
  chat: {
    id: "chat",
    method: "post",
    path: "/graphs/{graph}/chat",
    action: "run",
    summary: "A turn of a chat of the AI SDK: starts a run or answers its question, and streams a UI message",
    body: {
      id: { kind: "thread", isRequired: true, description: "The chat: the name of its thread" },
      messages: { kind: "json", isRequired: true, description: "UI messages; the last one is of the user" },
      input: { kind: "text", description: "The input for the text; default: the only one of type string" },
      trigger: { kind: "text", description: "Of the AI SDK" },
      messageId: { kind: "text", description: "Of the AI SDK" },
    },
    streams: "always",
  },
  threads: {
    id: "threads",
    method: "get",
    path: "/threads",
    summary: "Lists threads, most recently written first",
    query: {
      graph: { kind: "text", description: "Only threads of this graph" },
      status: {
        kind: "text",
        values: [
          "running",
          "interrupted",
          "paused",
          "completed",
          "incomplete",
          "failed",
          "limit",
          "cancelled",
          "rolled_back",
        ],
        description: "Only threads with this status",
      },
      label: { kind: "text", description: "Only threads whose newest checkpoint has this label" },
      limit: LIMIT,
      after: { kind: "count", description: "`next` of the page before" },
    },
    answer: "Threads",
  },
  state: {
    id: "state",
    method: "get",
    path: "/threads/{thread}",
    action: "read",
    summary: "The status, the values and the open questions of a thread",
    answer: "Thread",
  },
  history: {
    id: "history",
    method: "get",
    path: "/threads/{thread}/history",
    action: "read",
    summary: "The checkpoints of a thread, newest first",
    query: {
      limit: LIMIT,
      before: { kind: "text", description: "Only checkpoints before this one" },
      namespace: { kind: "text", description: "The path of a called graph" },
      all: { kind: "flag", description: "Includes the branches that forks have left" },
      values: { kind: "flag", description: "Includes the values of the channels" },
    },
    answer: "History",
  },
  test: {
    id: "test",
    method: "get",
    path: "/threads/{thread}/test",
    action: "read",
    summary: "The last run of a thread as a `test` block of its graph",
    answer: "Test",
  },
  events: {
    id: "events",
    method: "get",
    path: "/threads/{thread}/events",
    action: "read",
    summary:
      "The events of a thread as server-sent events, or through a WebSocket; `Last-Event-ID` continues an earlier stream",
    query: {
      after: { kind: "text", description: "As `Last-Event-ID`, for clients that cannot send headers" },
      end: { kind: "flag", description: "Ends the stream when the run ends or pauses" },
      from: {
        kind: "text",
        values: ["start", "now"],
        description: "The first event: the oldest that is kept, or the next one (default)",
      },
    },
    streams: "always",
  },
  resume: {
    id: "resume",
    method: "post",
    path: "/threads/{thread}/resume",
    action: "resume",
    summary: "Continues a thread that is paused, was interrupted or has failed",
    body: {
      answer: { kind: "json", description: "The answer, if one pause waits" },
      answers: { kind: "record", description: "Answers by the ids of the pauses" },
      from: { kind: "text", description: "A checkpoint or a label to continue from" },
      at: { kind: "text", description: "The node to continue at" },
      config: CONFIG,
      ...EXECUTE,
    },
    answer: "Result",
    mayBeAsync: true,
    streams: "on-request",
  },
  signal: {
    id: "signal",
    method: "post",
    path: "/threads/{thread}/signals",
    action: "signal",
    summary: "Puts a signal into the inbox of a thread",
    body: {
      name: { kind: "text", isRequired: true, description: "The name of the signal" },
      value: { kind: "json", description: "Its value; default null" },
      id: { kind: "text", description: "A second signal with this id is ignored; default: the Idempotency-Key" },
    },
    answer: "Signal",
    status: 202,
  },
  cancel: {
    id: "cancel",
    method: "post",
    path: "/threads/{thread}/cancel",
    action: "cancel",
    summary: "Cancels the run of a thread; the thread can be resumed",
    body: {},
    answer: "Result",
    mayBeAsync: true,
  },
  rollback: {
    id: "rollback",
    method: "post",
    path: "/threads/{thread}/rollback",
    action: "rollback",
    summary: "Runs the undos of a thread, the newest first",
    body: {},
    answer: "Result",
  },
  fork: {
    id: "fork",
    method: "post",
    path: "/threads/{thread}/fork",
    action: "fork",
    summary: "Starts a new chain at a checkpoint",
    body: {
      from: { kind: "text", description: "A checkpoint or a label; default: the newest checkpoint" },
      as: { kind: "thread", description: "The name of the new thread; default: the same thread" },
      at: { kind: "text", description: "The node that a resume begins with" },
      config: CONFIG,
      metadata: METADATA,
    },
    answer: "Checkpoint",
    status: 201,
  },
  update: {
    id: "update",
    method: "post",
    path: "/threads/{thread}/update",
    action: "update",
    summary: "Edits the state of a thread that does not run",
    body: {
      values: { kind: "record", isRequired: true, description: "Values by channel" },
      as: { kind: "text", description: "Routes as if this node had written the values; `start` and `end` as well" },
      in: { kind: "text", description: "The namespace of a called graph" },
      replace: { kind: "flag", description: "Replaces the values instead of applying the reducers" },
      set: { kind: "texts", description: "Channels whose values are replaced" },
      config: CONFIG,
      metadata: METADATA,
    },
    answer: "Checkpoint",
    status: 201,
  },
  migrate: {
    id: "migrate",
    method: "post",
    path: "/threads/{thread}/migrate",
    action: "migrate",
    summary: "Moves a thread to the present version of its graph",
    body: {
      rename: { kind: "names", description: "New names by old name" },
      drop: { kind: "texts", description: "Channels whose values are removed" },
      set: { kind: "record", description: "New values by channel" },
      graph: { kind: "text", description: "The former name of the graph" },
      dryRun: { kind: "flag", description: "Checks, and writes nothing" },
      metadata: METADATA,
    },
    answer: "Checkpoint",
    status: 201,
  },
  label: {
    id: "label",
    method: "put",
    path: "/threads/{thread}/label",
    action: "label",
    summary: "Labels a checkpoint",
    body: {
      label: { kind: "text", isRequired: true, description: "The label" },
      checkpoint: { kind: "text", description: "The checkpoint; default: the newest one" },
    },
    status: 204,
  },
  planRuns: {
    id: "planRuns",
    method: "get",
    path: "/plans/runs",
    summary: "Lists the recorded runs of plans, newest first",
    query: { plan: { kind: "text", description: "Only runs of this plan" }, limit: LIMIT },
    answer: "PlanRuns",
  },
  planRun: {
    id: "planRun",
    method: "get",
    path: "/plans/runs/{run}",
    summary: "A run of a plan: its tasks as they were planned and as they ran, and its logs",
    answer: "PlanRun",
  },
  planCancel: {
    id: "planCancel",
    method: "post",
    path: "/plans/runs/{run}/cancel",
    summary: "Ends a run of a plan: no further task starts; repeated, it ends the tasks that run",
    body: {},
    answer: "PlanRunSummary",
    status: 202,
  },
  planLog: {
    id: "planLog",
    method: "get",
    path: "/plans/runs/{run}/log",
    summary: "A part of what a task of a plan has printed",
    query: {
      log: { kind: "text", isRequired: true, description: "The name of the log in the run" },
      from: { kind: "count", description: "The position of the first byte; default 0" },
    },
    answer: "PlanLog",
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof OPERATIONS;
