import { useEffect, useState } from "preact/hooks";
import type { PlanRunSummary } from "../service/client.ts";
import { addressOfRun } from "./addresses.ts";
import { client, sentenceOf } from "./connection.ts";
import { Status } from "./thread-list.tsx";

const REFRESH_MS = 3_000;

/** The recorded runs of plans, newest first. */
export function PlanList() {
  const [runs, setRuns] = useState<readonly PlanRunSummary[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const found = await client.planRuns();
        if (isOver) return;
        setRuns(found);
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
  }, []);
  return (
    <section class="card" aria-labelledby="plans">
      <h2 id="plans">Runs of plans</h2>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {runs === undefined ? (
        <p role="status">Loading…</p>
      ) : runs.length === 0 ? (
        <p>No run of a plan is recorded here.</p>
      ) : (
        <table class="threads">
          <thead>
            <tr>
              <th scope="col">Plan</th>
              <th scope="col">Status</th>
              <th scope="col" class="wide">
                Thread
              </th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <td>
                  <a href={addressOfRun(run.id)}>{run.plan}</a>
                </td>
                <td>
                  <Status status={statusOf(run)} />
                </td>
                <td class="wide">{run.thread ?? ""}</td>
                <td>{new Date(run.startedAt).toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A run without an end whose process is gone was cut off. */
export function statusOf({ outcome, running }: PlanRunSummary): string {
  return outcome ?? (running ? "running" : "interrupted");
}
