import { useState } from "preact/hooks";
import type { ClientGraph } from "../service/client.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { addressOf } from "./addresses.ts";
import { client, sentenceOf } from "./connection.ts";
import { SchemaField } from "./schema-form.tsx";
import { firstValue, type Schema } from "./schema.ts";

/** Starts a run of a graph from a form of its inputs. */
export function StartRun({ graphs }: { readonly graphs: readonly ClientGraph[] }) {
  const [name, setName] = useState(graphs[0]?.name ?? "");
  const graph = graphs.find((each) => each.name === name);
  return (
    <details class="card">
      <summary>Start a run</summary>
      {graphs.length > 1 ? (
        <div class="field">
          <label for="graph">Graph</label>
          <select id="graph" value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {graphs.map((each) => (
              <option key={each.name}>{each.name}</option>
            ))}
          </select>
        </div>
      ) : null}
      {graph === undefined ? <p>No graph can be read.</p> : <InputForm key={graph.name} graph={graph} />}
    </details>
  );
}

function InputForm({ graph }: { readonly graph: ClientGraph }) {
  const schema = graph.input as Schema;
  const [input, setInput] = useState<Json | undefined>(() => firstValue(schema) ?? {});
  const [thread, setThread] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        client
          .graph(graph.name)
          .start((input ?? {}) as JsonObject, thread === "" ? {} : { thread })
          .then(
            (started) => {
              location.hash = addressOf(started.thread);
            },
            (error: unknown) => {
              setProblem(sentenceOf(error));
              setBusy(false);
            },
          );
      }}
    >
      {graph.description === null ? null : <p class="quiet">{graph.description}</p>}
      <SchemaField label="" schema={schema} root={schema} value={input} isRequired onValue={setInput} />
      <div class="field">
        <label for="thread">Name of the thread (optional)</label>
        <input id="thread" value={thread} onInput={(event) => setThread(event.currentTarget.value)} />
      </div>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <button class="primary" disabled={isBusy}>
        Start {graph.name}
      </button>
    </form>
  );
}
