/** The operations on threads: listing, state, history, events, and what changes them. */
import { checkpointDocument } from "../runtime/checkpoint/checkpoint-document.ts";
import type { ResumeOptions, ThreadSummary } from "../runtime/interface/engine-options.ts";
import { isHeld, keepsCancelRequests, requestCancel, untilFree } from "../runtime/thread/cancel-requests.ts";
import { namesOf, threadsOf } from "../runtime/thread/list-threads.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { runDocument, stateDocument, summaryDocument, withoutHidden } from "./documents.ts";
import { refuseHigherLimits } from "./graph-handlers.ts";
import type { OperationId } from "./operations.ts";
import { Problem } from "./problem.ts";
import { orLater, preferredWait, type Call, type RunRequests } from "./run-requests.ts";
import { busy, json, POLL_MS, unknownThread, type ServiceCore } from "./service-core.ts";

type Handler = (call: Call) => Promise<Response>;

/** How long a request waits for the end of the run that it cancels. */
const CANCEL_SECONDS = 30;

export function threadHandlers(core: ServiceCore, runs: RunRequests) {
  const { gatekeeper, store, log } = core;
  return {
    async threads({ principal, values }) {
      const { graph, limit = 100, ...filter } = values;
      const names = graph === undefined ? [undefined] : namesOf(core.graphNamed(graph as string).table);
      const found: ThreadSummary[] = [];
      for (const name of names) {
        const onlyNamed = name === undefined ? {} : { graph: name };
        const settings = { ...filter, ...onlyNamed, limit: limit as number };
        found.push(...(await threadsOf(store, settings, (error) => core.fail("a thread cannot be read", error))));
      }
      const page = firstPage(found, limit as number);
      const shown: object[] = [];
      for (const summary of page) {
        const { thread } = summary;
        const known = core.graphOf(summary);
        if (known === undefined) continue;
        const { name } = known.table;
        if (await gatekeeper.permits({ principal, action: "read", graph: name, thread })) {
          shown.push(summaryDocument(summary, name, known.hidden));
        }
      }
      return json({ threads: shown, next: page.length >= (limit as number) ? page.at(-1)!.position : null });
    },

    async state({ principal, parameters }) {
      const thread = parameters.thread!;
      const { graph, head } = await core.threadNamed(thread, principal, "read");
      const state = await graph.engine.state(thread);
      if (state === undefined) throw unknownThread(thread);
      return json(stateDocument(graph.table, state, head, runs.active.has(thread), graph.hidden));
    },

    async history({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "read");
      const { values: withValues, ...settings } = values;
      const list = await graph.engine.history(thread, settings);
      const checkpoints = list.map((checkpoint) => ({
        ...checkpointDocument(checkpoint),
        metadata: withoutHidden(checkpoint.metadata, graph.hidden),
        ...(withValues === true ? { values: checkpoint.values } : {}),
      }));
      return json({ checkpoints });
    },

    async test({ principal, parameters }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "read");
      const recorded = await core.options.recordTest?.(thread, graph.table);
      if (recorded === undefined) throw new Problem("not-found", "this service makes no tests of threads");
      if ("reason" in recorded) throw new Problem("no-test", recorded.reason);
      return json({ thread, graph: graph.table.name, test: recorded.test });
    },

    async events({ principal, parameters, values, request, context }) {
      const thread = parameters.thread!;
      const { graph, head } = await core.threadNamed(thread, principal, "read");
      const last = request.headers.get("last-event-id") ?? (values["after"] as string | undefined) ?? null;
      const known = last === null ? undefined : log.after(thread, last);
      const isLost = last !== null && known === undefined;
      const stateOf = async (): Promise<{ readonly data: object; readonly isOver: boolean } | undefined> => {
        const [state, latest] = [await graph.engine.state(thread), await store.loadLatest(thread)];
        if (state === undefined || latest === undefined) return undefined;
        const data = stateDocument(graph.table, state, latest, runs.active.has(thread), graph.hidden);
        return { data, isOver: state.status !== "running" };
      };
      let seen = head.id;
      let isFirst = true;
      // The events before are not kept here: the state takes their place.
      const first = isLost ? await stateOf() : undefined;
      // Nothing runs that could end.
      const isOver =
        values["end"] === true && !runs.active.has(thread) && (head.status !== "running" || head.prepared === true);
      const over = isOver ? await stateOf() : undefined;
      return runs.openStream(context, {
        thread,
        from: known ?? (values["from"] === "start" || isLost ? log.start(thread) : log.end(thread)),
        ...(first === undefined ? {} : { first: [{ event: "state", data: first.data }] }),
        untilEnd: values["end"] === true,
        ...(over === undefined ? {} : { end: Promise.resolve({ event: "state", data: over.data }) }),
        poll: {
          everyMs: POLL_MS,
          watch: () => core.heads.open(thread),
          async look() {
            if (runs.active.has(thread)) return undefined;
            const latest = await core.heads.headOf(thread, isFirst);
            isFirst = false;
            if (latest === undefined || latest === seen) return undefined;
            seen = latest;
            // The events of this process contain it.
            if (log.hasCheckpoint(thread, latest)) return undefined;
            return stateOf();
          },
        },
      });
    },

    async resume(call) {
      const thread = call.parameters.thread!;
      const { graph } = await core.threadNamed(thread, call.principal, "resume");
      refuseHigherLimits(graph, call.values);
      return runs.execute(call, graph, thread, (more) =>
        graph.engine.resume(thread, { ...(call.values as ResumeOptions), ...more }),
      );
    },

    async signal({ principal, parameters, values, request }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "signal");
      const id = values["id"] ?? request.headers.get("idempotency-key");
      const settings = typeof id === "string" && id !== "" ? { id } : {};
      const receipt = await graph.engine.signal(thread, values["name"] as string, values["value"] ?? null, settings);
      return json(receipt, 202);
    },

    async cancel({ principal, parameters, request }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "cancel");
      const seconds = preferredWait(request.headers.get("prefer")) ?? CANCEL_SECONDS;
      const run = runs.active.get(thread);
      if (run !== undefined) {
        run.controller.abort();
        // Its `finally` part may take long.
        const ended = await orLater(run.result, seconds);
        return ended === undefined ? json({ thread, status: "running" }, 202) : json(runDocument(ended));
      }
      // A run that a timer or a recovery has started, or one of another process.
      if (!(await graph.engine.cancel(thread))) {
        if (!(await isHeld(store, thread))) {
          throw new Problem("not-running", `thread \`${thread}\` does not run: it has nothing to cancel`);
        }
        if (!keepsCancelRequests(store)) {
          throw new Problem(
            "not-running",
            `thread \`${thread}\` runs in another process, which this store cannot reach: it has no long-term memory`,
          );
        }
        await requestCancel(store, thread);
      }
      const free = untilFree(store, thread, core.closing.signal);
      const isOver = (await orLater(free, seconds)) ?? false;
      // The answer may come before the end of the run.
      free.catch((error: unknown) => core.fail(`the end of the run of thread \`${thread}\` cannot be read`, error));
      const [state, head] = [await graph.engine.state(thread), await store.loadLatest(thread)];
      if (state === undefined || head === undefined) throw unknownThread(thread);
      if (!isOver) return json({ thread, status: "running" }, 202);
      return json(stateDocument(graph.table, state, head, false, graph.hidden));
    },

    async rollback(call) {
      const thread = call.parameters.thread!;
      const { graph } = await core.threadNamed(thread, call.principal, "rollback");
      return runs.execute(call, graph, thread, (more) => graph.engine.rollback(thread, more));
    },

    async fork({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "fork");
      if (values["as"] === undefined && runs.active.has(thread)) throw busy(thread);
      const made = await graph.engine.fork(thread, values);
      return json({ thread: made.thread, checkpoint: made.checkpointId }, 201);
    },

    async update({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "update");
      const { values: channels, ...settings } = values;
      const made = await graph.engine.update(thread, channels as JsonObject, settings);
      return json({ thread, checkpoint: made.checkpointId }, 201);
    },

    async migrate({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "migrate");
      const made = await graph.engine.migrate(thread, values);
      return json({ thread, checkpoint: made.checkpointId }, 201);
    },

    async label({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await core.threadNamed(thread, principal, "label");
      const { label, checkpoint } = values;
      await graph.engine.label(
        thread,
        label as string,
        checkpoint === undefined ? {} : { checkpoint: checkpoint as string },
      );
      return new Response(null, { status: 204 });
    },
  } satisfies Partial<Readonly<Record<OperationId, Handler>>>;
}

/** The first of the threads that were listed under several names. Threads of one place stay together, as in a listing. */
function firstPage(found: readonly ThreadSummary[], limit: number): readonly ThreadSummary[] {
  const sorted = found.toSorted((a, b) => b.position - a.position);
  const last = sorted[limit - 1]?.position;
  return last === undefined ? sorted : sorted.filter(({ position }) => position >= last);
}
