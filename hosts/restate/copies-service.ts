/** The service that copies threads into another store: one object for each thread, which asks the object of the thread what is new. */
import type * as Sdk from "@restatedev/restate-sdk";
import { copyThread, NOTHING_COPIED, type CopyProgress } from "./copy-thread.ts";
import { jsonSerde, TEXT } from "./serdes.ts";
import { OBJECT_OPTIONS } from "./service-options.ts";
import type { WorkerGraph } from "./worker-graph.ts";
import type { Answer } from "./wire-error.ts";

/** The state of a thread that says that a copy is to come. */
const COPY = "copy";
/** Milliseconds between a write and its copy: the copy has the writes that follow, too. */
const COPY_DELAY = 500;
/** Pages of one invocation. */
const PAGES = 50;

export async function requestCopy(graph: WorkerGraph, ctx: Sdk.ObjectContext): Promise<void> {
  if ((await ctx.get<string>(COPY, TEXT)) !== null) return;
  ctx.set(COPY, "1", TEXT);
  sendCopy(graph, ctx, COPY_DELAY);
}

/** Writes from now on request another copy. */
export async function beginCopy(ctx: Sdk.ObjectContext): Promise<Answer<null>> {
  ctx.clear(COPY);
  return { value: null };
}

function sendCopy({ names }: WorkerGraph, ctx: Sdk.ObjectContext, delay: number): void {
  ctx.genericSend<object>({
    ...{ service: names.copies, method: "copy", key: ctx.key, parameter: {}, inputSerde: jsonSerde<object>() },
    delay,
  });
}

export function copiesService(sdk: typeof Sdk, graph: WorkerGraph) {
  const { names, store, copyTo } = graph;
  return sdk.object({
    name: names.copies,
    handlers: {
      copy: sdk.handlers.object.exclusive({}, async (ctx: Sdk.ObjectContext) => {
        await ctx.genericCall<object, Answer<null>>({
          ...{ service: names.store, method: "beginCopy", key: ctx.key, parameter: {} },
          ...{ inputSerde: jsonSerde<object>(), outputSerde: jsonSerde<Answer<null>>() },
        });
        // Another worker has requested it, with an option that this one does not have.
        if (copyTo === undefined) return { value: null };
        let progress = (await ctx.get<CopyProgress>("progress")) ?? NOTHING_COPIED;
        for (let pages = 0; pages < PAGES; pages++) {
          const before = progress;
          const { isLast, ...after } = await ctx.run("copy", () => copyThread(store, copyTo, ctx.key, before));
          progress = after;
          ctx.set("progress", progress);
          if (isLast) return { value: null };
        }
        // The journal starts again.
        sendCopy(graph, ctx, 0);
        return { value: null };
      }),
    },
    options: OBJECT_OPTIONS,
  });
}
