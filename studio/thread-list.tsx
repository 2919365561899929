import { useEffect, useState } from "preact/hooks";
import type { ClientGraph, ClientThreadSummary } from "../service/client.ts";
import { addressOf } from "./addresses.ts";
import { client, sentenceOf } from "./connection.ts";

const STATUSES = [
  "running",
  "interrupted",
  "paused",
  "completed",
  "incomplete",
  "failed",
  "limit",
  "cancelled",
  "rolled_back",
] as const;
const PAGE = 100;
/** How often the first page is read again. */
const REFRESH_MS = 3_000;

/** The threads, most recently written first, in pages. */
export function ThreadList({ graphs }: { readonly graphs: readonly ClientGraph[] }) {
  const [graph, setGraph] = useState("");
  const [status, setStatus] = useState("");
  const [label, setLabel] = useState("");
  const [pages, setPages] = useState<readonly number[]>([]);
  const [threads, setThreads] = useState<readonly ClientThreadSummary[]>();
  const [next, setNext] = useState<number | null>(null);
  const [problem, setProblem] = useState<string>();
  const after = pages.at(-1);
  useEffect(() => setPages([]), [graph, status, label]);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const page = await client.threads({
          limit: PAGE,
          ...(graph === "" ? {} : { graph }),
          ...(status === "" ? {} : { status: status as ClientThreadSummary["status"] }),
          ...(label === "" ? {} : { label }),
          ...(after === undefined ? {} : { after }),
        });
        if (isOver) return;
        setThreads(page.threads);
        setNext(page.next);
        setProblem(undefined);
      } catch (error) {
        if (!isOver) setProblem(sentenceOf(error));
      }
      if (!isOver) timer = setTimeout(() => void read(), REFRESH_MS);
    };
    void read();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [graph, status, label, after]);
  return (
    <section class="card" aria-labelledby="threads">
      <h2 id="threads">Threads</h2>
      <div class="filters">
        <label>
          Graph
          <select value={graph} onChange={(event) => setGraph(event.currentTarget.value)}>
            <option value="">all</option>
            {graphs.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Status
          <select value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
            <option value="">all</option>
            {STATUSES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Label
          <input value={label} onChange={(event) => setLabel(event.currentTarget.value)} />
        </label>
      </div>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {threads === undefined ? (
        <p role="status">Loading…</p>
      ) : threads.length === 0 ? (
        <p>No thread fits.</p>
      ) : (
        <table class="threads">
          <thead>
            <tr>
              <th scope="col">Thread</th>
              <th scope="col">Status</th>
              <th scope="col" class="wide">
                Graph
              </th>
              <th scope="col" class="wide">
                Step
              </th>
              <th scope="col">Written</th>
            </tr>
          </thead>
          <tbody>
            {threads.map((thread) => (
              <tr key={thread.thread}>
                <td>
                  <a href={addressOf(thread.thread)}>{thread.thread}</a>
                  {thread.label === null ? null : <span class="label">{thread.label}</span>}
                </td>
                <td>
                  <Status status={thread.status} />
                </td>
                <td class="wide">{thread.graph}</td>
                <td class="wide">{thread.step}</td>
                <td>{new Date(thread.timestamp).toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="actions">
        {pages.length > 0 ? <button onClick={() => setPages(pages.slice(0, -1))}>Newer threads</button> : null}
        {next === null ? null : <button onClick={() => setPages([...pages, next])}>Older threads</button>}
      </div>
    </section>
  );
}

/** A status as text with a colour. */
export function Status({ status }: { readonly status: string }) {
  return <span class={`status is-${status}`}>{status.replaceAll("_", " ")}</span>;
}
