import type { PlanRunSummary } from "../service/client.ts";
import { addressOfRun } from "./addresses.ts";
import { client } from "./connection.ts";
import { ListCard, useListing } from "./listing.tsx";
import { Status } from "./thread-list.tsx";

const COLUMNS = [{ title: "Plan" }, { title: "Status" }, { title: "Thread", isWide: true }, { title: "Started" }];

/** The recorded runs of plans, newest first. */
export function PlanList() {
  const { found, problem } = useListing(() => client.planRuns(), []);
  return (
    <ListCard
      id="plans"
      title="Runs of plans"
      items={found}
      problem={problem}
      empty="No run of a plan is recorded here."
      columns={COLUMNS}
      row={(run) => (
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
      )}
    />
  );
}

/** A run without an end whose process is gone was cut off. */
export function statusOf({ outcome, running }: PlanRunSummary): string {
  return outcome ?? (running ? "running" : "interrupted");
}
