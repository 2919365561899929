/** Values of a state's fields, in the scope that the state sees. */
import { quoted, shortJson, type Source } from "../imported.ts";
import { sayPathExpression, sayTemplate } from "./json-path.ts";
import { sayJsonataValue } from "./jsonata.ts";
import type { Machine, Query, State } from "./machine.ts";
import { atom, fitting, parsePath, Unsaid, type Root, type Said, type Scope } from "./said.ts";
import type { Kind } from "./shape.ts";
import { lastKey } from "./state-parts.ts";

/** The data of the machine. */
export const DATA: Root = { channel: "data", path: [] };

/** What the expressions of a state see, beside the data. */
interface Seen {
  readonly result?: string;
  readonly error?: Said;
  readonly context?: ReadonlyMap<string, Said>;
}

/** The scope of a state's expressions. `root`: what `$` means there. */
export function scopeOf(
  machine: Machine,
  state: State,
  { result, error, context = new Map() }: Seen = {},
  root: Root = DATA,
): Scope {
  const names: ReadonlyMap<string, Said> = new Map([["State.Name", atom(quoted(state.name), "string")], ...context]);
  return {
    root,
    result,
    error,
    context: names,
    shape: machine.isTyped ? machine.shape : undefined,
    used: machine.shape,
    data: "data",
    variable: (name) => machine.variable(name),
    helper: (name) => machine.file.helper(name),
  };
}

/** The expression, or a call of a function in its place. */
export function sayOrCall(machine: Machine, source: Source, wish: string, scope: Scope, say: () => Said): Said {
  const { file } = machine;
  try {
    return say();
  } catch (error) {
    if (!(error instanceof Unsaid)) throw error;
    const text = `${error.message}`;
    const name = file.expression(wish, [text, `In the source: ${shortJson(source.value ?? null)}`]);
    machine.change(source.at, `${text}; the function \`${name}\` computes the value`);
    const names = new Set([
      scope.root.channel === "{}" ? "data" : scope.root.channel,
      ...(scope.result === undefined ? [] : [scope.result]),
      ...["Map.Item.Value", "Map.Item.Index"].flatMap((key) => scope.context.get(key)?.text ?? []),
    ]);
    // A value without a name: the result of another function, or an element.
    const fields = [...names].map((text) => (/^[A-Za-z_]\w*$/.test(text) ? text : `value: ${text}`));
    return atom(`${name}({ ${fields.join(", ")} })`, "any");
  }
}

/** A value of a field: a template, or JSONata. */
export function sayValue(
  machine: Machine,
  state: State,
  source: Source,
  scope: Scope,
  query: Query,
  isStored: boolean,
): Said {
  const target = isStored ? { path: [] } : undefined;
  return sayOrCall(machine, source, `${state.node}_${lastKey(source)}`, scope, () =>
    query === "JSONata" ? sayJsonataValue(source, scope, target) : sayTemplate(source, scope, target),
  );
}

/** A field that is a path. */
export function sayPath(
  machine: Machine,
  state: State,
  source: Source,
  scope: Scope,
  kind: Kind = "json",
  isRequired = false,
): Said {
  return sayOrCall(machine, source, `${state.node}_${lastKey(source)}`, scope, () =>
    fitting(sayPathExpression(source.text(), kind, scope, isRequired), kind, scope),
  );
}

/** What `$` means after `InputPath`. */
export function rootOf(machine: Machine, state: State, scope: Scope): Root {
  const source = state.source.field("InputPath");
  if (source.value === null) return { channel: "{}", path: [] };
  if (!source.isPresent || source.value === "$") return DATA;
  try {
    const { name, path } = parsePath(source.text());
    if (name === undefined) return { channel: "data", path };
    if (name !== "$") return { channel: machine.variable(name), path };
  } catch (error) {
    if (!(error instanceof Unsaid)) throw error;
  }
  const said = sayPath(machine, state, source, scope);
  return { channel: said.text, path: [] };
}
