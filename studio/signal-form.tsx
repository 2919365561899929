import { useState } from "preact/hooks";
import type { Json } from "../runtime/value/json.ts";
import { JsonField } from "./schema-form.tsx";

/** Sends a signal that the thread may wait for later. */
export function SignalForm({ onSignal }: { readonly onSignal: (name: string, value: Json) => Promise<boolean> }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState<Json | undefined>(null);
  const [isSent, setSent] = useState(false);
  return (
    <details class="card">
      <summary>Send a signal</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSent(false);
          void onSignal(name, value ?? null).then(setSent);
        }}
      >
        <div class="field">
          <label for="signal">Name</label>
          <input id="signal" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </div>
        <JsonField label="Value" value={value} onValue={setValue} />
        {isSent ? <p role="status">The signal is in the inbox of the thread.</p> : null}
        <button>Send</button>
      </form>
    </details>
  );
}
