import { useId, useState } from "preact/hooks";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { fieldOf, MAX_DEPTH, type Schema } from "./schema.ts";

interface FieldProps {
  readonly label: string;
  readonly schema: Schema | undefined;
  readonly root: Schema | undefined;
  readonly value: Json | undefined;
  readonly isRequired: boolean;
  readonly onValue: (value: Json | undefined) => void;
  readonly depth?: number;
}

/** The field of one value of a type. */
export function SchemaField({ label, schema, root, value, isRequired, onValue, depth = 0 }: FieldProps) {
  const id = useId();
  const field = fieldOf(schema, root);
  const shown = isRequired ? label : `${label} (optional)`;
  switch (field.kind) {
    case "choice":
      return (
        <fieldset class="field">
          <legend>{shown}</legend>
          {field.values.map((choice) => (
            <label class="choice" key={JSON.stringify(choice)}>
              <input type="radio" name={id} checked={value === choice} onChange={() => onValue(choice)} />
              {typeof choice === "string" ? choice : JSON.stringify(choice)}
            </label>
          ))}
        </fieldset>
      );
    case "flag":
      return (
        <label class="field choice">
          <input type="checkbox" checked={value === true} onChange={(event) => onValue(event.currentTarget.checked)} />
          {shown}
        </label>
      );
    case "text":
      return (
        <div class="field">
          <label for={id}>{shown}</label>
          <textarea
            id={id}
            rows={2}
            value={typeof value === "string" ? value : ""}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        </div>
      );
    case "number":
      return (
        <div class="field">
          <label for={id}>{shown}</label>
          <input
            id={id}
            type="number"
            step={field.isWhole ? 1 : "any"}
            required={isRequired}
            value={typeof value === "number" ? value : ""}
            onInput={(event) => {
              const number = event.currentTarget.valueAsNumber;
              onValue(Number.isFinite(number) ? number : undefined);
            }}
          />
        </div>
      );
    case "record": {
      if (depth > MAX_DEPTH) break;
      const values = isRecord(value) ? value : {};
      return (
        <fieldset class="field">
          {label === "" ? null : <legend>{shown}</legend>}
          {field.fields.map((part) => (
            <SchemaField
              key={part.name}
              label={part.name}
              schema={part.schema}
              root={root}
              value={Object.hasOwn(values, part.name) ? values[part.name] : undefined}
              isRequired={part.isRequired}
              depth={depth + 1}
              onValue={(next) => {
                const entries = Object.entries(values).filter(([name]) => name !== part.name);
                onValue(Object.fromEntries(next === undefined ? entries : [...entries, [part.name, next]]));
              }}
            />
          ))}
        </fieldset>
      );
    }
    case "json":
      break;
  }
  return <JsonField label={shown} value={value} onValue={onValue} />;
}

interface JsonFieldProps {
  readonly label: string;
  readonly value: Json | undefined;
  readonly onValue: (value: Json | undefined) => void;
}

/** A value as JSON text. A text that is not JSON is no value. */
export function JsonField({ label, value, onValue }: JsonFieldProps) {
  const id = useId();
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const isWrong = text.trim() !== "" && parse(text) === undefined;
  return (
    <div class="field">
      <label for={id}>{label}, as JSON</label>
      <textarea
        id={id}
        class="code"
        rows={Math.min(12, text.split("\n").length + 1)}
        spellcheck={false}
        aria-invalid={isWrong}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          onValue(parse(event.currentTarget.value));
        }}
      />
      {isWrong ? <p class="problem">This text is not JSON.</p> : null}
    </div>
  );
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
