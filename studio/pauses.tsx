import { useState } from "preact/hooks";
import type { ClientPause } from "../service/client.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { SchemaField } from "./schema-form.tsx";
import { fieldOf, firstValue, type Schema } from "./schema.ts";
import { ValueText } from "./value-text.tsx";

interface PausesProps {
  readonly pauses: readonly ClientPause[];
  readonly onAnswer: (id: string, answer: Json) => Promise<boolean>;
  readonly onSignal: (name: string, value: Json) => Promise<boolean>;
  readonly onContinue: () => Promise<boolean>;
}

/** What a thread waits for: a form for each question. */
export function Pauses({ pauses, onAnswer, onSignal, onContinue }: PausesProps) {
  return pauses.map((pause) => {
    const due = pause.due === undefined ? null : <p class="quiet">Until {new Date(pause.due).toLocaleString()}</p>;
    switch (pause.kind) {
      case "interrupt":
        return (
          <AnswerForm key={pause.id} pause={pause} name="Answer" onValue={(value) => onAnswer(pause.id, value)}>
            {due}
          </AnswerForm>
        );
      case "signal":
        return (
          <AnswerForm
            key={pause.id}
            pause={pause}
            name="Send the signal"
            onValue={(value) => onSignal(String(pause.payload), value)}
          >
            {due}
          </AnswerForm>
        );
      case "timer":
        return (
          <section class="card waits" key={pause.id}>
            <h3>{pause.node} waits for its timer</h3>
            {due}
          </section>
        );
      default:
        return (
          <section class="card waits" key={pause.id}>
            <h3>
              The run waits {pause.kind} {pause.node}
            </h3>
            <button class="primary" onClick={() => void onContinue()}>
              Continue
            </button>
          </section>
        );
    }
  });
}

interface AnswerFormProps {
  readonly pause: ClientPause;
  readonly name: string;
  readonly onValue: (value: Json) => Promise<boolean>;
  readonly children: preact.ComponentChildren;
}

function AnswerForm({ pause, name, onValue, children }: AnswerFormProps) {
  const schema = pause.schema as Schema | undefined;
  const [value, setValue] = useState<Json | undefined>(() => firstValue(schema));
  const [isBusy, setBusy] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const isSignal = pause.kind === "signal";
  return (
    <form
      class="card waits"
      onSubmit={(event) => {
        event.preventDefault();
        setMissing(value === undefined);
        if (value === undefined) return;
        setBusy(true);
        void onValue(value).finally(() => setBusy(false));
      }}
    >
      <h3>
        {isSignal ? `${pause.node} waits for the signal ` : `${pause.node} asks`}
        {isSignal ? <ValueText value={pause.payload} /> : null}
      </h3>
      {isSignal ? null : <Question payload={pause.payload} />}
      {pause.namespace.length === 0 ? null : <p class="quiet">in {pause.namespace.join(" › ")}</p>}
      {children}
      <SchemaField
        label={fieldOf(schema).kind === "record" ? "" : name === "Answer" ? "Your answer" : "Value"}
        schema={schema}
        root={schema}
        value={value}
        isRequired
        onValue={setValue}
      />
      {isMissing ? (
        <p class="problem" role="alert">
          Enter a value first.
        </p>
      ) : null}
      <button class="primary" disabled={isBusy}>
        {name}
      </button>
    </form>
  );
}

/**
 * The question of `ask` has its text in `question`; `interrupt` may ask with any value. What stands beside the question is shown, too: the
 * `details` of `ask`, and the arguments of a call that needs an approval.
 */
function Question({ payload }: { readonly payload: Json }) {
  if (typeof payload === "string") return <p class="question">{payload}</p>;
  if (typeof payload === "object" && payload !== null && !Array.isArray(payload)) {
    const { question, choices: _, schema: __, ...others } = payload as JsonObject;
    const names = Object.keys(others);
    if (typeof question === "string") {
      return (
        <>
          <p class="question">{question}</p>
          {names.length === 0 ? null : <ValueText value={names.join() === "details" ? others["details"] : others} />}
        </>
      );
    }
  }
  return <ValueText value={payload} />;
}
