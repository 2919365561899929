import { useEffect, useState } from "preact/hooks";
import type { PlanRun, PlanRunLog, PlanRunTask } from "../service/client.ts";
import { PLANS } from "./addresses.ts";
import { client, sentenceOf } from "./connection.ts";
import { durationText } from "./duration-text.ts";
import { Gantt } from "./gantt.tsx";
import { PlanLog } from "./plan-log.tsx";
import { statusOf } from "./plan-list.tsx";
import { reasonText } from "./reason-text.ts";
import { Status } from "./thread-list.tsx";

const REFRESH_MS = 1_000;
/** Tasks that the page shows at first. */
const FIRST_TASKS = 200;

/** A run of a plan: its Gantt chart, its tasks and their logs, as they change. */
export function PlanPage({ id }: { readonly id: string }) {
  const [run, setRun] = useState<PlanRun>();
  const [problem, setProblem] = useState<string>();
  const [selected, setSelected] = useState<string>();
  const [most, setMost] = useState(FIRST_TASKS);
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      let isLive = true;
      try {
        const found = await client.planRun(id, controller.signal);
        setRun(found);
        setProblem(undefined);
        isLive = found.running;
      } catch (error) {
        if (controller.signal.aborted) return;
        setProblem(sentenceOf(error));
      }
      if (isLive && !controller.signal.aborted) timer = setTimeout(() => void read(), REFRESH_MS);
    };
    void read();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [id]);
  if (run === undefined) return <p role={problem === undefined ? "status" : "alert"}>{problem ?? "Loading…"}</p>;
  const tasks = run.tasks.slice(0, most);
  const task = run.tasks.find((each) => each.id === selected);
  const counts = [...new Set(run.tasks.map(({ status }) => status))].map(
    (status) => `${run.tasks.filter((each) => each.status === status).length} ${status}`,
  );
  return (
    <>
      <section class="card">
        <h2>
          {run.plan} <Status status={statusOf(run)} />
        </h2>
        <p class="quiet">
          run {run.id}
          {run.thread === null ? "" : ` · thread ${run.thread}`}
          {run.resumedFrom === null ? "" : ` · continues run ${run.resumedFrom}`} ·{" "}
          {new Date(run.startedAt).toLocaleString()} · {counts.join(", ")} of {run.tasks.length} tasks in{" "}
          {durationText(run.length)}
          {run.planned === null || run.planned.unit === "tasks"
            ? ""
            : ` (planned ${durationText(run.planned.makespan)})`}
        </p>
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {statusOf(run) === "interrupted" ? (
          <p class="problem">The process of the run is gone. `ngc resume` continues it.</p>
        ) : null}
        {run.running ? <CancelRun id={run.id} onProblem={setProblem} /> : null}
        <p>
          <a href={PLANS}>All runs of plans</a>
        </p>
      </section>
      <section class="card" aria-labelledby="chart">
        <h2 id="chart">Planned and run</h2>
        <Gantt run={run} tasks={tasks} />
      </section>
      <section class="card" aria-labelledby="tasks">
        <h2 id="tasks">Tasks and logs</h2>
        <div class="scroll" tabIndex={0} role="group" aria-label="Tasks">
          <table class="tasks">
            <thead>
              <tr>
                <th scope="col">Task</th>
                <th scope="col">Status</th>
                <th scope="col">Tries</th>
                <th scope="col" class="wide">
                  Reason
                </th>
              </tr>
            </thead>
            <tbody>
              {tasks.map((each) => (
                <tr key={each.id}>
                  <td>
                    <button
                      class="link"
                      aria-expanded={each.id === selected}
                      onClick={() => setSelected(each.id === selected ? undefined : each.id)}
                    >
                      {each.id}
                    </button>
                  </td>
                  <td>
                    <Status status={each.status} />
                  </td>
                  <td>{each.attempts === 0 ? "" : each.attempts}</td>
                  <td class="wide">{each.error ?? whyOf(each)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {run.tasks.length > most ? (
          <button onClick={() => setMost(run.tasks.length)}>Show all {run.tasks.length} tasks</button>
        ) : null}
      </section>
      {task === undefined ? null : (
        <TaskLogs key={task.id} run={run.id} task={task} logs={run.logs.filter((log) => log.task === task.id)} />
      )}
    </>
  );
}

function whyOf({ reason, cached }: PlanRunTask): string {
  if (reason !== null) return reasonText(reason);
  return cached ? "from the cache" : "";
}

interface CancelRunProps {
  readonly id: string;
  readonly onProblem: (sentence: string | undefined) => void;
}

/** As Ctrl-C in the terminal of the run: the second time, the tasks that run are ended, too. */
function CancelRun({ id, onProblem }: CancelRunProps) {
  const [isAsked, setIsAsked] = useState(false);
  const cancel = async (): Promise<void> => {
    try {
      await client.cancelPlanRun(id);
      setIsAsked(true);
      onProblem(undefined);
    } catch (error) {
      onProblem(sentenceOf(error));
    }
  };
  return (
    <div class="actions">
      {isAsked ? <p role="status">No further task starts. The run ends with the tasks that run now.</p> : null}
      <button onClick={() => void cancel()}>{isAsked ? "End the running tasks now" : "Cancel the run"}</button>
    </div>
  );
}

interface TaskLogsProps {
  readonly run: string;
  readonly task: PlanRunTask;
  readonly logs: readonly PlanRunLog[];
}

function TaskLogs({ run, task, logs }: TaskLogsProps) {
  const [chosen, setChosen] = useState<string>();
  const log = logs.find((each) => each.log === chosen) ?? logs.at(-1);
  return (
    <section class="card" aria-labelledby="log">
      <h2 id="log">Output of {task.id}</h2>
      {task.error === null ? null : <p class="problem">{task.error}</p>}
      {log === undefined ? (
        <p>{task.cached ? "The result is from the cache: nothing was printed." : "Nothing was printed."}</p>
      ) : (
        <>
          {logs.length === 1 ? null : (
            <div class="field">
              <label for="attempt">Try</label>
              <select id="attempt" value={log.log} onChange={(event) => setChosen(event.currentTarget.value)}>
                {logs.map((each) => (
                  <option key={each.log} value={each.log}>
                    {`try ${each.attempt}${each.check === null ? "" : `, check ${each.check}`}`}
                  </option>
                ))}
              </select>
            </div>
          )}
          <PlanLog key={log.log} run={run} log={log} />
        </>
      )}
    </section>
  );
}
