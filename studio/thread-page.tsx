import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ClientGraph, ClientThread } from "../service/client.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { client, sentenceOf } from "./connection.ts";
import { applyEvent, marksOf, type Running } from "./marks.ts";
import { Pauses } from "./pauses.tsx";
import { Picture } from "./picture.tsx";
import { SignalForm } from "./signal-form.tsx";
import { checkpointsById } from "./steps.ts";
import { Status } from "./thread-list.tsx";
import { ThreadTest } from "./thread-test.tsx";
import { Timeline, type Base } from "./timeline.tsx";

const PAGE = 50;
const EARLIER = 1000;
/** Events of this time cause one look at the thread. */
const GATHER_MS = 150;
const RETRY_MS = 2_000;
/** How often a thread that runs is looked at, whether or not events come. */
const PULSE_MS = 3_000;

interface ThreadPageProps {
  readonly name: string;
  readonly graphs: readonly ClientGraph[];
  readonly base: Base | undefined;
  readonly onBase: (base: Base | undefined) => void;
}

/** A thread: its picture, its questions and its checkpoints, as they change. */
export function ThreadPage({ name, graphs, base, onBase }: ThreadPageProps) {
  const [thread, setThread] = useState<ClientThread>();
  const [checkpoints, setCheckpoints] = useState<readonly JsonObject[]>([]);
  const [hasMore, setHasMore] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [isLost, setLost] = useState(false);
  const running = useRef<Running>(new Map());
  const [version, setVersion] = useState(0);
  const latest = useRef(0);
  const works = useRef(false);

  const look = useCallback(async () => {
    const turn = ++latest.current;
    const remote = client.thread(name);
    // The history is read second: it has the checkpoint of the state.
    const state = await remote.state();
    const history = await remote.history({ limit: PAGE, all: true });
    // A later look has been faster.
    if (turn !== latest.current) return;
    works.current = state.status === "running";
    setThread(state);
    setCheckpoints((known) => {
      const last = history.at(-1)?.["id"];
      const at = known.findIndex(({ id }) => id === last);
      // Earlier pages stay. If more has happened than a page has, they are read again.
      if (at >= 0) return [...history, ...known.slice(at + 1)];
      setHasMore(history.length === PAGE);
      return history;
    });
  }, [name]);

  const readEarlier = async (): Promise<void> => {
    const before = checkpoints.at(-1)?.["id"];
    if (typeof before !== "string") return;
    const page = await client.thread(name).history({ limit: EARLIER, all: true, before });
    setHasMore(page.length === EARLIER);
    setCheckpoints((known) => (known.at(-1)?.["id"] === before ? [...known, ...page] : known));
  };

  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lookSoon = (delay = GATHER_MS): void => {
      if (controller.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        setVersion((count) => count + 1);
        look().then(
          () => setLost(false),
          () => {
            setLost(true);
            lookSoon(RETRY_MS);
          },
        );
      }, delay);
    };
    const watch = async (): Promise<void> => {
      while (!controller.signal.aborted) {
        try {
          await look();
          setLost(false);
          // From the start: what happens between the look and the connection would be missed, and items and attempts are counted.
          for await (const event of client.thread(name).events({ from: "start", signal: controller.signal })) {
            applyEvent(running.current, event);
            lookSoon();
          }
        } catch (error) {
          if (controller.signal.aborted) return;
          setLost(true);
          setProblem(sentenceOf(error));
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    };
    void watch();
    // A connection that is lost is made again without a word: only a look notices that the service is gone.
    const pulse = setInterval(() => {
      if (works.current) lookSoon();
    }, PULSE_MS);
    return () => {
      controller.abort();
      clearInterval(pulse);
      clearTimeout(timer);
    };
  }, [look]);

  const known = useMemo(() => checkpointsById(checkpoints), [checkpoints]);
  const marks = useMemo(
    () => (thread === undefined ? new Map() : marksOf(thread, known, running.current)),
    [thread, known, version],
  );

  /** An operation, and then the thread as it is. @returns whether it has succeeded */
  const act = async (operation: () => Promise<unknown>): Promise<boolean> => {
    setProblem(undefined);
    try {
      await operation();
      return true;
    } catch (error) {
      setProblem(sentenceOf(error));
      return false;
    } finally {
      await look().catch(() => setLost(true));
    }
  };

  if (thread === undefined) {
    return <p role={problem === undefined ? "status" : "alert"}>{problem ?? "Loading…"}</p>;
  }
  const remote = client.thread(name);
  const graph = graphs.find((each) => each.name === thread.graph);
  const failed = thread.error?.node;
  const line = graph?.nodes.find((node) => node.name === failed)?.line ?? null;
  const canResume = ["failed", "cancelled", "limit", "interrupted"].includes(thread.status) || thread.prepared;
  return (
    <>
      <section class="card">
        <h2>
          {name} <Status status={thread.status} />
        </h2>
        <p class="quiet">
          {thread.graph} · step {thread.step}
          {thread.next.length === 0 ? "" : ` · next: ${thread.next.join(", ")}`}
          {thread.label === null ? "" : ` · label: ${thread.label}`}
          {thread.due === null ? "" : ` · due ${new Date(thread.due).toLocaleString()}`}
          {thread.usage === undefined ? "" : ` · ${usageText(thread.usage)}`}
        </p>
        {isLost ? <p role="status">The service does not answer. The page tries again.</p> : null}
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {thread.error === null ? null : (
          <p class="problem">
            <strong>{thread.error.code}</strong>{" "}
            {failed === undefined ? "" : `at ${failed}${line === null ? "" : ` (line ${line})`}: `}
            {thread.error.message}
            {(thread.error.attempts ?? 1) > 1 ? ` (${thread.error.attempts} attempts)` : ""}
          </p>
        )}
        {(thread.error?.causes ?? []).map((cause, at) => (
          <p class="problem cause" key={at}>
            caused by: {cause}
          </p>
        ))}
        <div class="actions">
          {canResume ? (
            <button class="primary" onClick={() => void act(() => remote.resume())}>
              Resume
            </button>
          ) : null}
          {thread.running || (thread.status === "running" && !thread.prepared) ? (
            <button onClick={() => void act(() => remote.cancel())}>Cancel the run</button>
          ) : null}
        </div>
      </section>
      <Pauses
        pauses={thread.pauses}
        onAnswer={(id, answer) => act(() => remote.resume({ answers: { [id]: answer } }))}
        onSignal={(signal, value) => act(() => remote.signal(signal, value))}
        onContinue={() => act(() => remote.resume())}
      />
      <Picture graph={thread.graph} marks={marks} />
      <Timeline
        thread={thread}
        checkpoints={checkpoints}
        known={known}
        schema={graph?.state}
        hasMore={hasMore}
        onMore={() => void act(readEarlier)}
        base={base}
        onBase={onBase}
        act={act}
      />
      <ThreadTest thread={name} checkpoint={thread.checkpoint} />
      <SignalForm onSignal={(signal, value) => act(() => remote.signal(signal, value))} />
    </>
  );
}

function usageText({ inputTokens, outputTokens, cost }: NonNullable<ClientThread["usage"]>): string {
  return `${(inputTokens + outputTokens).toLocaleString()} tokens${cost === 0 ? "" : `, cost ${cost.toPrecision(3)}`}`;
}
