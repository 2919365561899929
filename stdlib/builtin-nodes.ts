import type { BuiltinNode } from "../runtime/interface/context.ts";
import { ask } from "./nodes/ask.ts";
import { csv } from "./nodes/csv.ts";
import { fail } from "./nodes/fail.ts";
import { file } from "./nodes/file.ts";
import { http } from "./nodes/http.ts";
import { json } from "./nodes/json.ts";
import { memory } from "./nodes/memory.ts";
import { print } from "./nodes/print.ts";
import { receive } from "./nodes/receive.ts";
import { shell } from "./nodes/shell.ts";
import { sleep } from "./nodes/sleep.ts";

/**
 * The code of the built-in nodes, by name. `llm`, `tool` and `yaml` are not included: a program that runs a graph with them supplies
 * them.
 */
export const builtinNodes: Readonly<Record<string, BuiltinNode>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, BuiltinNode>, {
    ...{ ask, csv, fail, file, http, json, memory, print, receive, shell, sleep },
  }),
);
