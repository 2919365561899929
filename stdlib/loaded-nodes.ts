import type { BuiltinNode } from "../runtime/interface/context.ts";
import { ask } from "./nodes/ask.ts";
import { fail } from "./nodes/fail.ts";
import { json } from "./nodes/json.ts";
import { memory } from "./nodes/memory.ts";
import { print } from "./nodes/print.ts";
import { receive } from "./nodes/receive.ts";
import { sleep } from "./nodes/sleep.ts";

/**
 * `builtinNodes`, of which the large ones are loaded when they first run: bundlers put them into files of their own.
 */
export const loadedNodes: Readonly<Record<string, BuiltinNode>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, BuiltinNode>, {
    ...{ ask, fail, json, memory, print, receive, sleep },
    csv: loaded(async () => (await import("./nodes/csv.ts")).csv),
    file: loaded(async () => (await import("./nodes/file.ts")).file),
    http: loaded(async () => (await import("./nodes/http.ts")).http),
    shell: loaded(async () => (await import("./nodes/shell.ts")).shell),
  }),
);

function loaded(load: () => Promise<BuiltinNode>): BuiltinNode {
  let node: BuiltinNode | undefined;
  const first = async (...call: Parameters<BuiltinNode>): Promise<unknown> => {
    node = await load();
    return node(...call);
  };
  return (...call) => (node ?? first)(...call);
}
