import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../runtime/value/json.ts";
import type { Mark } from "../studio/marks.ts";
import { Runner } from "./connection.ts";
import type { Answer, GraphView, Pause, RunState, Runnable } from "./messages.ts";
import { Player, type PlayedStep } from "./player.tsx";
import type { Project } from "./project.ts";
import { parseLines, parseValue } from "./values.ts";

interface Props {
  readonly graph: GraphView;
  readonly runnable: Runnable;
  readonly project: () => Project;
  readonly onMarks: (marks: ReadonlyMap<string, Mark>) => void;
}

/** Runs a graph with given results. The key of this element is the graph: another one starts with its own values. */
export function RunPanel({ graph, runnable, project, onMarks }: Props) {
  const runner = useRef<Runner>(undefined);
  runner.current ??= new Runner();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [state, setState] = useState<RunState>();
  const [problem, setProblem] = useState<string>();
  /** Counts the results: each is shown from its first step. */
  const [turn, setTurn] = useState(0);
  const [isRunning, setRunning] = useState(false);
  const isBusy = useRef(false);
  useEffect(() => () => runner.current?.stop(), []);
  const textOf = (key: string, value: Json): string => values[key] ?? JSON.stringify(value);
  const set = (key: string, text: string): void => setValues((old) => ({ ...old, [key]: text }));

  const follow = async (running: () => Promise<RunState>): Promise<void> => {
    // A second click would send the answer, or the signal, twice.
    if (isBusy.current) return;
    isBusy.current = true;
    setProblem(undefined);
    setRunning(true);
    try {
      setState(await running());
      setTurn((count) => count + 1);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      isBusy.current = false;
      setRunning(false);
    }
  };
  const start = (): Promise<void> =>
    follow(async () => {
      setState(undefined);
      onMarks(new Map());
      const input = Object.fromEntries(
        runnable.inputs.map(({ name, value }) => [name, parseValue(name, textOf(`in ${name}`, value))]),
      );
      const mocks = Object.fromEntries(
        runnable.mocked.map(({ node, value }) => [node, parseLines(node, textOf(`of ${node}`, value))]),
      );
      const { files, main } = project();
      return runner.current!.start(files, main, { graph: graph.name, input, mocks });
    });
  return (
    <>
      <p class="quiet">
        The graph runs in this page. No function, model or command runs: you give their results. Time passes at once.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        {runnable.inputs.map(({ name, type, value }) => (
          <div class="field" key={name}>
            <label for={`in-${name}`}>
              <b>{name}</b> <span class="quiet">{type}</span>
            </label>
            <textarea
              id={`in-${name}`}
              class="code"
              rows={rowsOf(textOf(`in ${name}`, value))}
              value={textOf(`in ${name}`, value)}
              onInput={(event) => set(`in ${name}`, event.currentTarget.value)}
            />
          </div>
        ))}
        {runnable.mocked.length === 0 ? null : (
          <p class="quiet">Results of nodes: JSON, one line for each run of the node. The last line is repeated.</p>
        )}
        {runnable.mocked.map(({ node, call, value }) => (
          <div class="field" key={node}>
            <label for={`of-${node}`}>
              <b>{node}</b> <span class="quiet">{call} returns</span>
            </label>
            <textarea
              id={`of-${node}`}
              class="code"
              rows={rowsOf(textOf(`of ${node}`, value))}
              value={textOf(`of ${node}`, value)}
              onInput={(event) => set(`of ${node}`, event.currentTarget.value)}
            />
          </div>
        ))}
        <div class="actions">
          <button class="primary" disabled={isRunning}>
            Run {graph.name}
          </button>
          {isRunning ? (
            <button type="button" onClick={() => runner.current?.stop()}>
              Stop
            </button>
          ) : null}
        </div>
      </form>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {state === undefined ? null : (
        <RunView
          key={turn}
          state={state}
          onMarks={onMarks}
          onAnswer={(answer) => void follow(() => runner.current!.answer(answer))}
        />
      )}
    </>
  );
}

function RunView({
  state,
  onMarks,
  onAnswer,
}: {
  readonly state: RunState;
  readonly onMarks: Props["onMarks"];
  readonly onAnswer: (answer: Answer) => void;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The result is below the values, which may fill the page.
  useEffect(() => heading.current?.scrollIntoView({ block: "nearest" }), []);
  const waiting = state.pauses.map(({ node }) => node);
  const steps: PlayedStep[] = state.steps.map(({ ran, wrote }) => ({
    ran,
    text: Object.entries(wrote)
      .map(([name, value]) => `${name} = ${shorten(JSON.stringify(value))}`)
      .join(", "),
  }));
  return (
    <section aria-live="polite">
      <h3 class="result" ref={heading}>
        The run is <span class={`status is-${state.status}`}>{state.status}</span>
      </h3>
      {state.error === undefined ? null : <p class="problem">{state.error}</p>}
      {state.pauses.map((pause) => (
        <PauseForm key={pause.id} pause={pause} onAnswer={onAnswer} />
      ))}
      {steps.length === 0 ? null : (
        <Player
          steps={steps}
          end={state.cut === 0 ? "" : `${state.cut} further steps are not shown.`}
          onMarks={(marks) => {
            const all = new Map(marks);
            for (const node of waiting) all.set(node, { status: "waiting", runs: marks.get(node)?.runs ?? 0 });
            onMarks(all);
          }}
        />
      )}
      <details open={state.status === "completed"}>
        <summary>State</summary>
        <pre class="code">{JSON.stringify(state.state, null, 2)}</pre>
      </details>
    </section>
  );
}

function PauseForm({
  pause: { id, node, kind, payload, choices, hasDeadline },
  onAnswer,
}: {
  readonly pause: Pause;
  readonly onAnswer: (answer: Answer) => void;
}) {
  const [text, setText] = useState(kind === "signal" ? "{}" : '"yes"');
  const [problem, setProblem] = useState<string>();
  const isSignal = kind === "signal" && typeof payload === "string";
  const send = (value: Json): void => {
    if (isSignal) onAnswer({ answers: {}, signals: [{ name: payload, value }] });
    else onAnswer({ answers: { [id]: value }, signals: [] });
  };
  if (kind !== "interrupt" && kind !== "signal") {
    return (
      <div class="waits card">
        <p>
          <b>{node}</b> waits ({kind}).
        </p>
        <button
          class="primary"
          onClick={() => onAnswer({ answers: kind === "timer" ? {} : { [id]: true }, signals: [] })}
        >
          Continue
        </button>
      </div>
    );
  }
  return (
    <form
      class="waits card"
      onSubmit={(event) => {
        event.preventDefault();
        try {
          send(parseValue(node, text));
        } catch (error) {
          setProblem(error instanceof Error ? error.message : String(error));
        }
      }}
    >
      <p class="question">
        <b>{node}</b> {isSignal ? `waits for the signal ${payload}` : `asks: ${questionOf(payload)}`}
      </p>
      {choices === undefined ? (
        <div class="field">
          <label for={`answer-${id}`}>{isSignal ? "Its value, as JSON" : "Answer, as JSON"}</label>
          <textarea
            id={`answer-${id}`}
            class="code"
            rows={1}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
      ) : null}
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      <div class="actions">
        {choices?.map((choice) => (
          <button type="button" key={String(choice)} onClick={() => send(choice)}>
            {String(choice)}
          </button>
        )) ?? <button class="primary">{isSignal ? "Send" : "Answer"}</button>}
        {hasDeadline ? (
          <button type="button" onClick={() => onAnswer({ answers: {}, signals: [], late: id })}>
            Let the deadline pass
          </button>
        ) : null}
      </div>
    </form>
  );
}

function questionOf(payload: Json): string {
  if (typeof payload === "object" && payload !== null && !Array.isArray(payload)) {
    const question = (payload as Readonly<Record<string, Json>>)["question"];
    if (typeof question === "string") return question;
  }
  return typeof payload === "string" ? payload : JSON.stringify(payload);
}

const MAX_SHOWN = 120;

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

function rowsOf(text: string): number {
  return Math.min(8, text.split("\n").length);
}
