import { useEffect, useState } from "preact/hooks";
import type { ClientGraph, ClientThreadSummary } from "../service/client.ts";
import { addressOf } from "./addresses.ts";
import { client } from "./connection.ts";
import { ListCard, useListing } from "./listing.tsx";

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
/** Letters that are typed within this time are looked for together. */
const TYPING_MS = 250;
const COLUMNS = [
  { title: "Thread" },
  { title: "Status" },
  { title: "Graph", isWide: true },
  { title: "Step", isWide: true },
  { title: "Written" },
];

/** The threads, most recently written first, in pages. */
export function ThreadList({ graphs }: { readonly graphs: readonly ClientGraph[] }) {
  const [graph, setGraph] = useState("");
  const [status, setStatus] = useState("");
  const [label, setLabel] = useState("");
  const [typed, setTyped] = useState("");
  const [pages, setPages] = useState<readonly number[]>([]);
  const after = pages.at(-1);
  useEffect(() => setPages([]), [graph, status, label]);
  useEffect(() => {
    const timer = setTimeout(() => setLabel(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { found, problem } = useListing(
    () =>
      client.threads({
        limit: PAGE,
        ...(graph === "" ? {} : { graph }),
        ...(status === "" ? {} : { status: status as ClientThreadSummary["status"] }),
        ...(label === "" ? {} : { label }),
        ...(after === undefined ? {} : { after }),
      }),
    [graph, status, label, after],
  );
  const next = found?.next ?? null;
  return (
    <ListCard
      id="threads"
      title="Threads"
      items={found?.threads}
      problem={problem}
      empty="No thread fits."
      columns={COLUMNS}
      filters={
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
            <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          </label>
        </div>
      }
      row={(thread) => (
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
      )}
      actions={
        <div class="actions">
          {pages.length > 0 ? <button onClick={() => setPages(pages.slice(0, -1))}>Newer threads</button> : null}
          {next === null ? null : <button onClick={() => setPages([...pages, next])}>Older threads</button>}
        </div>
      }
    />
  );
}

/** A status as text with a colour. */
export function Status({ status }: { readonly status: string }) {
  return <span class={`status is-${status}`}>{status.replaceAll("_", " ")}</span>;
}
