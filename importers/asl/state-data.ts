/** How the data of a machine passes through a state: its input, its result and the variables that it assigns. */
import { ImportError, quoted, type Source } from "../imported.ts";
import { into, record, sayPathExpression } from "./json-path.ts";
import type { Machine, Query, State } from "./machine.ts";
import { atom, parsePath, pathText, Unsaid, type Path, type Said, type Scope } from "./said.ts";
import { isWhole } from "./state-parts.ts";
import { DATA, rootOf, sayOrCall, sayPath, sayValue, scopeOf } from "./state-values.ts";

/** The input of a state's work: `InputPath` and `Parameters`, or `Arguments`. */
export function inputOf(
  machine: Machine,
  state: State,
  context?: ReadonlyMap<string, Said>,
): { readonly said: Said; readonly isNew: boolean } {
  const query = machine.queryOf(state);
  const seen = context === undefined ? {} : { context };
  if (query === "JSONata") {
    const args = state.source.field("Arguments");
    if (!args.isPresent) return { said: atom("data", "json"), isNew: false };
    return { said: sayValue(machine, state, args, scopeOf(machine, state, seen), query, false), isNew: true };
  }
  const root = rootOf(machine, state, scopeOf(machine, state));
  const scope = scopeOf(machine, state, seen, root);
  const parameters = state.source.field("Parameters");
  if (parameters.isPresent) return { said: sayValue(machine, state, parameters, scope, query, false), isNew: true };
  const whole = root.path.length === 0 ? atom(root.channel, "json") : sayPathExpression("$", "json", scope);
  return { said: whole, isNew: root !== DATA };
}

/** Writes the data, and variables, with one node. */
export function writeData(
  machine: Machine,
  node: string,
  data: Said | undefined,
  variables: readonly (readonly [string, Said])[],
  scope: Scope,
): void {
  const stored = data === undefined ? undefined : asData(data, scope);
  if (variables.length === 0) {
    machine.node(stored === undefined ? `${node} = null` : `${node} = ${stored.text} into data`);
    return;
  }
  const fields = [...(stored === undefined ? [] : [["data", stored] as const]), ...variables];
  machine.node(`${node} = ${record(fields).text} into { ${fields.map(([name]) => name).join(", ")} }`);
}

/** A value that becomes the data. */
function asData(said: Said, scope: Scope): Said {
  if (scope.shape === undefined || said.kind === "any" || said.text === "data") return said;
  // A record of fields that the type knows fits; a field in quotes is unknown to it.
  if (said.text.startsWith("{") && !/[{,]\s*"/.test(said.text)) return said;
  return atom(`${scope.helper("untyped")}(${said.text})`, "any");
}

/** The variables that `Assign` of a state, a rule or a catcher writes: their channels, with the values. */
export function variablesOf(
  machine: Machine,
  state: State,
  source: Source,
  scope: Scope,
  query: Query,
): (readonly [string, Said])[] {
  return source
    .field("Assign")
    .entries()
    .map(([name, value]) => {
      const isPath = name.endsWith(".$");
      if (isPath && query === "JSONata")
        throw new ImportError(value.at, `\`${name}\` is not the name of a variable in JSONata`);
      const said = isPath
        ? sayPath(machine, state, value, scope)
        : sayValue(machine, state, value, scope, query, false);
      return [machine.variable(isPath ? name.slice(0, -2) : name), said] as const;
    });
}

/** The data after a state, of its result; `undefined`: the data stays. */
export function outputOf(machine: Machine, state: State, result: Said, scope: Scope, query: Query): Said | undefined {
  const { source } = state;
  if (query === "JSONata") {
    const output = source.field("Output");
    return output.isPresent ? sayValue(machine, state, output, scope, query, true) : result;
  }
  const selector = source.field("ResultSelector");
  const selected = selector.isPresent
    ? sayValue(
        machine,
        state,
        selector,
        scopeOf(machine, state, {}, { channel: result.text, path: [] }),
        query,
        isWhole(source),
      )
    : result;
  const combined = atResultPath(source.field("ResultPath"), selected, scope);
  const outputPath = source.field("OutputPath");
  if (outputPath.value === null) return atom("{}", "json");
  if (!outputPath.isPresent || outputPath.value === "$") return combined;
  return sayOrCall(machine, outputPath, `${state.node}_OutputPath`, scope, () => {
    const { name, path } = parsePath(outputPath.text());
    if (name !== undefined) return sayPathExpression(outputPath.text(), "json", scope);
    return atom(`${scope.helper("at")}(${combined?.text ?? "data"}, ${quoted(pathText(path))})`, "any");
  });
}

/** The data with a result at `ResultPath`; `undefined`: the data stays. */
export function atResultPath(source: Source, result: Said, scope: Scope): Said | undefined {
  if (source.value === null) return undefined;
  if (!source.isPresent || source.value === "$") return result;
  let path: Path;
  try {
    const parsed = parsePath(source.text());
    if (parsed.name !== undefined) throw new Unsaid("the path is none of the data");
    ({ path } = parsed);
  } catch (error) {
    if (error instanceof Unsaid) throw new ImportError(source.at, error.message);
    throw error;
  }
  const fields = path.every(
    (segment): segment is string => typeof segment === "string" && /^[A-Za-z_]\w*$/.test(segment),
  );
  scope.used.note(path, result.kind);
  if (!fields || scope.shape?.find(path) === undefined) {
    return atom(`${scope.helper("put")}(data, ${quoted(pathText(path))}, ${result.text})`, "any");
  }
  const names = path as readonly string[];
  const value = into({ path: names }, result, scope).text;
  const build = (depth: number): string => {
    const inner = depth === names.length - 1 ? value : build(depth + 1);
    const base = depth === 0 ? "data" : `(data.${names.slice(0, depth).join("?.")} ?? {})`;
    return `{ ...${base}, ${names[depth]}: ${inner} }`;
  };
  return atom(build(0), "json");
}

/** The data that `InputPath` and `OutputPath`, or `Output`, make of themselves; `undefined`: they stay. */
export function plainOutput(machine: Machine, state: State, source = state.source): Said | undefined {
  const query = machine.queryOf(state);
  const scope = scopeOf(machine, state);
  if (query === "JSONata") {
    const output = source.field("Output");
    return output.isPresent ? sayValue(machine, state, output, scope, query, true) : undefined;
  }
  const root = rootOf(machine, state, scope);
  const outputPath = state.source.field("OutputPath");
  if (outputPath.value === null) return atom("{}", "json");
  if (outputPath.isPresent && outputPath.value !== "$")
    return sayPath(machine, state, outputPath, scopeOf(machine, state, {}, root));
  if (root === DATA) return undefined;
  return root.path.length === 0
    ? atom(root.channel, "json")
    : sayPathExpression("$", "json", scopeOf(machine, state, {}, root));
}

/** Whether the result becomes the data as it is. */
export function replacesData(state: State): boolean {
  const has = (field: string): boolean => state.source.field(field).isPresent;
  if (has("Assign") || has("Output") || has("ResultSelector")) return false;
  const { value } = state.source.field("OutputPath");
  if (value !== undefined && value !== "$") return false;
  const path = state.source.field("ResultPath").value;
  return path === undefined || path === "$";
}

/** `OutputPath` of a state whose result is dropped. */
export function outputOfDropped(machine: Machine, state: State): Said | undefined {
  const { value } = state.source.field("OutputPath");
  if (value === undefined || value === "$") return undefined;
  return value === null
    ? atom("{}", "json")
    : sayPath(machine, state, state.source.field("OutputPath"), scopeOf(machine, state));
}
