import type {
  DueOptions,
  ForkOptions,
  HistoryOptions,
  MigrateOptions,
  PruneOptions,
  RecoverOptions,
  RollbackOptions,
  SignalOptions,
  ThreadListOptions,
  UpdateOptions,
} from "../interface/engine-options.ts";
import type { MemoryListOptions, PutOptions, SearchOptions } from "../interface/memory.ts";
import type { OptionNames } from "./option-names.ts";

export const ROLLBACK_OPTIONS: OptionNames<RollbackOptions> = {
  signal: true,
  onEvent: true,
  context: true,
  metadata: true,
  ttl: true,
};
export const HISTORY_OPTIONS: OptionNames<HistoryOptions> = {
  limit: "number",
  before: "text",
  namespace: "text",
  all: "flag",
};
export const LABEL_OPTIONS: OptionNames<{ readonly checkpoint?: string }> = { checkpoint: true };
export const FORK_OPTIONS: OptionNames<ForkOptions> = {
  from: true,
  as: true,
  at: "text",
  config: true,
  metadata: true,
};
export const UPDATE_OPTIONS: OptionNames<UpdateOptions> = {
  as: "text",
  in: "text",
  replace: "flag",
  set: "texts",
  config: true,
  metadata: true,
};
export const MIGRATE_OPTIONS: OptionNames<MigrateOptions> = {
  rename: true,
  drop: true,
  map: true,
  set: true,
  graph: "text",
  dryRun: "flag",
  metadata: true,
};
export const THREADS_OPTIONS: OptionNames<ThreadListOptions> = {
  limit: "number",
  after: "number",
  status: "text",
  graph: "text",
  label: "text",
  expiredAt: "number",
  metadata: true,
  due: "number",
};
export const SIGNAL_OPTIONS: OptionNames<SignalOptions> = { id: true };
export const PUT_OPTIONS: OptionNames<PutOptions> = { ttl: true, text: true };
export const MEMORY_LIST_OPTIONS: OptionNames<MemoryListOptions> = { limit: true, after: true, filter: true };
export const SEARCH_OPTIONS: OptionNames<SearchOptions> = { query: true, filter: true, limit: true, minScore: true };
export const RECOVER_OPTIONS: OptionNames<RecoverOptions & DueOptions> = {
  threads: "texts",
  limit: true,
  concurrency: true,
  signal: "listener",
};
export const PRUNE_OPTIONS: OptionNames<PruneOptions> = {
  expiredAt: true,
  keepLast: "count",
  keepLabelled: "flag",
  olderThan: "number",
  threads: "texts",
  limit: true,
  signal: "listener",
  dryRun: "flag",
};
