import { useEffect, useMemo, useState } from "preact/hooks";
import type { ClientThread } from "../service/client.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { addressOf } from "./addresses.ts";
import { client, sentenceOf } from "./connection.ts";
import { Compare } from "./compare.tsx";
import { differenceOf } from "./difference.ts";
import { JsonField, SchemaField } from "./schema-form.tsx";
import { fieldOf, type Schema } from "./schema.ts";
import { lineOf, stepText, type KnownCheckpoints } from "./steps.ts";
import { VirtualList } from "./virtual-list.tsx";
import { ValueText } from "./value-text.tsx";

/** A checkpoint that others are compared with: of this thread or of another one. */
export interface Base {
  readonly thread: string;
  readonly id: string;
  readonly step: number;
  readonly values: JsonObject;
}

interface TimelineProps {
  readonly thread: ClientThread;
  /** Newest first, with those of branches that forks have left. */
  readonly checkpoints: readonly JsonObject[];
  readonly known: KnownCheckpoints;
  /** The schema of the state. */
  readonly schema: JsonObject | undefined;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly base: Base | undefined;
  readonly onBase: (base: Base | undefined) => void;
  readonly act: (operation: () => Promise<unknown>) => Promise<boolean>;
}

/** The checkpoints of a thread: the state at each, what it has changed, and ways to go on from it. */
export function Timeline({ thread, checkpoints, known, schema, hasMore, onMore, ...more }: TimelineProps) {
  const [selected, setSelected] = useState<string>();
  const present = useMemo(() => lineOf(thread.checkpoint, known), [thread.checkpoint, known]);
  const id = selected !== undefined && known.has(selected) ? selected : thread.checkpoint;
  return (
    <section class="card" aria-labelledby="timeline">
      <h2 id="timeline">Checkpoints</h2>
      <div class="timeline">
        <VirtualList
          items={checkpoints}
          keyOf={(checkpoint) => String(checkpoint["id"])}
          render={(checkpoint) => {
            const own = String(checkpoint["id"]);
            const text = stepText(checkpoint, known);
            return (
              <button
                class={present.has(own) ? "" : "is-left"}
                aria-pressed={own === id}
                title={text}
                onClick={() => setSelected(own)}
              >
                <span>{text}</span>
                <span class="quiet">
                  {present.has(own) ? "" : "other branch · "}
                  {typeof checkpoint["label"] === "string" ? `${checkpoint["label"]} · ` : ""}
                  {new Date(Number(checkpoint["timestamp"])).toLocaleTimeString()}
                </span>
              </button>
            );
          }}
        />
        <CheckpointView
          key={id}
          thread={thread}
          id={id}
          checkpoints={checkpoints}
          known={known}
          present={present}
          {...more}
          schema={schema}
          onHead={() => setSelected(undefined)}
        />
      </div>
      {hasMore ? <button onClick={onMore}>Earlier checkpoints</button> : null}
    </section>
  );
}

type CheckpointViewProps = Omit<TimelineProps, "hasMore" | "onMore"> & {
  readonly id: string;
  /** The ids of the present branch. */
  readonly present: ReadonlySet<string>;
  /** Shows the present checkpoint. */
  readonly onHead: () => void;
};

function CheckpointView(props: CheckpointViewProps) {
  const { thread, id, checkpoints, known, present, schema, base, onBase, act, onHead } = props;
  const [values, setValues] = useState<JsonObject>();
  const [before, setBefore] = useState<JsonObject>();
  const [problem, setProblem] = useState<string>();
  const [branch, setBranch] = useState("");
  const checkpoint = known.get(id);
  const parent = checkpoint?.["parent"];
  const isKnown = checkpoint !== undefined;
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      const state = await valuesOf(thread.thread, id, checkpoints);
      const earlier = typeof parent === "string" ? await valuesOf(thread.thread, parent, checkpoints) : {};
      if (isOver) return;
      setValues(state);
      setBefore(earlier);
    };
    if (isKnown) read().catch((error: unknown) => setProblem(sentenceOf(error)));
    return () => {
      isOver = true;
    };
  }, [id, isKnown]);
  if (problem !== undefined) return <p class="problem">{problem}</p>;
  if (values === undefined || checkpoint === undefined) return <p role="status">Loading…</p>;
  const isHead = id === thread.checkpoint;
  const from = base === undefined || base.id === id ? before : base.values;
  const differences = from === undefined ? undefined : differenceOf(from, values);
  const remote = client.thread(thread.thread);
  const step = Number(checkpoint["step"]);
  return (
    <div class="checkpoint">
      <h3>
        Step {step}, {String(checkpoint["phase"])}
      </h3>
      <h4>
        {base === undefined || base.id === id
          ? "Changes since the checkpoint before"
          : `Differences from step ${base.step} of ${base.thread}`}
      </h4>
      {differences === undefined ? (
        <p class="quiet">The checkpoint before is not loaded.</p>
      ) : base !== undefined && base.id !== id ? (
        <Compare {...{ base, id, step, differences, known, present }} thread={thread.thread} />
      ) : differences.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <dl>
          {differences.map((each) => (
            <div key={each.channel}>
              <dt>{each.channel}</dt>
              <dd>
                <del>
                  <ValueText value={each.before} />
                </del>
                <ins>
                  <ValueText value={each.after} />
                </ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <div class="actions">
        {base?.id === id ? (
          <button onClick={() => onBase(undefined)}>End the comparison</button>
        ) : (
          <button onClick={() => onBase({ thread: thread.thread, id, step, values })}>Compare others with this</button>
        )}
        {isHead ? null : (
          <button onClick={() => void act(() => remote.fork({ from: id })).then((isDone) => isDone && onHead())}>
            Go back to this checkpoint
          </button>
        )}
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          void act(async () => {
            const made = await remote.fork({ from: id, as: branch });
            location.hash = addressOf(made.thread);
          });
        }}
      >
        <label>
          New thread from here
          <input required value={branch} onInput={(event) => setBranch(event.currentTarget.value)} />
        </label>
        <button>Fork</button>
      </form>
      <h4>State</h4>
      <dl>
        {Object.entries(values).map(([channel, value]) => (
          <div key={channel}>
            <dt>{channel}</dt>
            <dd>
              <ValueText value={value} />
              {isHead && !thread.running ? (
                <EditForm
                  channel={channel}
                  value={value}
                  schema={schemaOf(schema, channel)}
                  root={schema}
                  onSave={(next) => act(() => remote.update({ [channel]: next }, { replace: true }))}
                />
              ) : null}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

interface EditFormProps {
  readonly channel: string;
  readonly value: Json;
  readonly schema: Schema | undefined;
  readonly root: Schema | undefined;
  readonly onSave: (value: Json) => Promise<boolean>;
}

/** The schema of a channel. */
function schemaOf(schema: Schema | undefined, channel: string): Schema | undefined {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  return Object.hasOwn(properties, channel) ? properties[channel] : undefined;
}

function EditForm({ channel, value, schema, root, onSave }: EditFormProps) {
  const [next, setNext] = useState<Json | undefined>(value);
  return (
    <details class="edit">
      <summary aria-label={`Edit ${channel}`}>Edit</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (next !== undefined) void onSave(next);
        }}
      >
        {fieldOf(schema, root).kind === "json" || value === null ? (
          <JsonField label={channel} value={value} onValue={setNext} />
        ) : (
          <SchemaField label={channel} schema={schema} root={root} value={next} isRequired onValue={setNext} />
        )}
        <button disabled={next === undefined}>Save {channel}</button>
      </form>
    </details>
  );
}

/** The values of a checkpoint, which never change; `undefined` if it is not in the list. */
async function valuesOf(
  thread: string,
  id: string,
  checkpoints: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const at = checkpoints.findIndex((each) => each["id"] === id);
  if (at < 0) return undefined;
  const key = JSON.stringify([thread, id]);
  const kept = cache.get(key);
  if (kept !== undefined) return kept;
  const newer = checkpoints[at - 1]?.["id"];
  const page = await client.thread(thread).history({
    limit: 1,
    all: true,
    values: true,
    ...(typeof newer === "string" ? { before: newer } : {}),
  });
  const found = page.find((each) => each["id"] === id)?.["values"] as JsonObject | undefined;
  if (found === undefined) return undefined;
  if (cache.size >= MOST_KEPT) cache.delete(cache.keys().next().value!);
  cache.set(key, found);
  return found;
}

const MOST_KEPT = 200;
const cache = new Map<string, JsonObject>();
