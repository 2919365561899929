/** The states of a machine as nodes and edges. */
import { duration, ImportError, isObject, quoted, shortJson, type Source } from "../imported.ts";
import { sayRule } from "./conditions.ts";
import { into, record, sayLiteral, sayPathExpression, sayTemplate } from "./json-path.ts";
import { jsonataOf, sayJsonata, sayJsonataValue } from "./jsonata.ts";
import type { Machine, Outer, Query, State, WrittenMachine } from "./machine.ts";
import { itemPolicies, policiesOf, sayErrorNames } from "./policies.ts";
import {
  atom,
  fitting,
  operand,
  parsePath,
  pathText,
  Unsaid,
  type Path,
  type Root,
  type Said,
  type Scope,
} from "./said.ts";
import type { Kind } from "./shape.ts";
import { asPath, block, callbackOf, isWhole, lastKey, nameOfResource, wrongSeconds } from "./state-parts.ts";

const DATA: Root = { channel: "data", path: [] };

/** What the expressions of a state see, beside the data. */
interface Seen {
  readonly result?: string;
  readonly error?: Said;
  readonly context?: ReadonlyMap<string, Said>;
}

/** Writes a machine inside of a state as a graph of its own. */
type WriteMachine = (source: Source, name: string, file: Machine["file"], outer: Outer) => WrittenMachine;

export class StateWriter {
  readonly #machine: Machine;
  readonly #start: State;
  readonly #writeMachine: WriteMachine;
  /** How often a state is the target of plain edges, and of others. */
  readonly #plain = new Map<State, number>();
  readonly #other = new Set<State>();
  /** The first nodes of a state with several: the branches of a Parallel. */
  readonly #entries = new Map<State, string>();
  readonly #rules = new Map<State, readonly string[]>();

  constructor(machine: Machine, start: State, write: WriteMachine) {
    this.#writeMachine = write;
    this.#machine = machine;
    this.#start = start;
  }

  writeAll(): void {
    const { states } = this.#machine;
    const count = (target: State): void => void this.#plain.set(target, (this.#plain.get(target) ?? 0) + 1);
    count(this.#start);
    for (const state of states.values()) {
      const { source } = state;
      if (source.field("Next").isPresent) count(this.#machine.state(source.field("Next")));
      const others = [
        source.field("Default"),
        ...[...source.field("Choices").items(), ...source.field("Catch").items()].map((each) => each.field("Next")),
      ];
      for (const other of others) if (other.isPresent) this.#other.add(this.#machine.state(other));
      if (state.type === "Parallel") this.#entries.set(state, this.#branchNodes(state).join(", "));
    }
    // The branches of a Choice are known before an edge leads to it.
    for (const state of states.values()) if (state.type === "Choice") this.#rules.set(state, this.#writeArms(state));
    this.#lead("start -> begin", this.#start);
    for (const state of states.values()) this.#write(state);
  }

  /** An edge from a node to a state. A Choice with one plain edge to it is the `match` of this edge. */
  #lead(from: string, target: State): void {
    if (this.#isInline(target)) this.#match(from, target);
    else this.#machine.edge(`${from} -> ${this.#target(target)}`);
  }

  #isInline(state: State): boolean {
    return state.type === "Choice" && this.#plain.get(state) === 1 && !this.#other.has(state);
  }

  #match(from: string, choice: State): void {
    this.#machine.edge(
      `${from} -> match {\n${this.#rules
        .get(choice)!
        .map((arm) => `    ${arm}`)
        .join("\n")}\n  }`,
    );
  }

  #target(state: State): string {
    if (this.#isPlainEnd(state)) return "end";
    return this.#entries.get(state) ?? state.node;
  }

  /** A Succeed that changes nothing. */
  #isPlainEnd({ type, source }: State): boolean {
    return type === "Succeed" && !["InputPath", "OutputPath", "Output"].some((field) => source.field(field).isPresent);
  }

  #write(state: State): void {
    const { source, type, name } = state;
    const doc = source.field("Comment");
    const isNode = !this.#isPlainEnd(state) && !(type === "Choice" && this.#isInline(state));
    if (isNode && typeof doc.value === "string" && doc.value !== "") this.#machine.say(doc.value);
    switch (type) {
      case "Choice":
        if (this.#isInline(state)) return;
        this.#machine.node(`${state.node} = null`);
        this.#match(state.node, state);
        return;
      case "Succeed":
        if (this.#isPlainEnd(state)) return;
        this.#assign(state.node, this.#plainOutput(state), [], this.#scope(state));
        this.#machine.edge(`${state.node} -> end`);
        return;
      case "Fail":
        this.#fail(state);
        return;
      case "Wait":
        this.#wait(state);
        return;
      case "Pass":
        this.#pass(state);
        return;
      case "Task":
        this.#task(state);
        return;
      case "Parallel":
        this.#parallel(state);
        return;
      case "Map":
        this.#map(state);
        return;
      default:
        throw new ImportError(source.at, `the state \`${name}\` has no type`);
    }
  }

  /** The edge behind the last node of a state. */
  #next({ source, name }: State, from: string): void {
    const next = source.field("Next");
    if (source.field("End").value === true) {
      if (next.isPresent) throw new ImportError(next.at, `the state \`${name}\` has both \`Next\` and \`End\``);
      this.#machine.edge(`${from} -> end`);
      return;
    }
    if (!next.isPresent) throw new ImportError(source.at, `the state \`${name}\` has neither \`Next\` nor \`End\``);
    this.#lead(from, this.#machine.state(next));
  }

  #scope(state: State, { result, error, context = new Map() }: Seen = {}, root: Root = DATA): Scope {
    const machine = this.#machine;
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
  #said(source: Source, wish: string, scope: Scope, say: () => Said): Said {
    const { file } = this.#machine;
    try {
      return say();
    } catch (error) {
      if (!(error instanceof Unsaid)) throw error;
      const text = `${error.message}`;
      const name = file.expression(wish, [text, `In the source: ${shortJson(source.value ?? null)}`]);
      this.#machine.change(source.at, `${text}; the function \`${name}\` computes the value`);
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
  #value(state: State, source: Source, scope: Scope, query: Query, isStored: boolean): Said {
    const target = isStored ? { path: [] } : undefined;
    return this.#said(source, `${state.node}_${lastKey(source)}`, scope, () => {
      const said = query === "JSONata" ? sayJsonataValue(source, scope, target) : sayTemplate(source, scope, target);
      return said;
    });
  }

  #path(state: State, source: Source, scope: Scope, kind: Kind = "json", isRequired = false): Said {
    return this.#said(source, `${state.node}_${lastKey(source)}`, scope, () =>
      fitting(sayPathExpression(source.text(), kind, scope, isRequired), kind, scope),
    );
  }

  /** What `$` means after `InputPath`. */
  #rootOf(state: State, scope: Scope): Root {
    const source = state.source.field("InputPath");
    if (source.value === null) return { channel: "{}", path: [] };
    if (!source.isPresent || source.value === "$") return DATA;
    try {
      const { name, path } = parsePath(source.text());
      if (name === undefined) return { channel: "data", path };
      if (name !== "$") return { channel: this.#machine.variable(name), path };
    } catch (error) {
      if (!(error instanceof Unsaid)) throw error;
    }
    const said = this.#path(state, source, scope);
    return { channel: said.text, path: [] };
  }

  /** The input of a state's work: `InputPath` and `Parameters`, or `Arguments`. */
  #input(state: State, context?: ReadonlyMap<string, Said>): { readonly said: Said; readonly isNew: boolean } {
    const query = this.#machine.queryOf(state);
    const seen = context === undefined ? {} : { context };
    if (query === "JSONata") {
      const args = state.source.field("Arguments");
      if (!args.isPresent) return { said: atom("data", "json"), isNew: false };
      return { said: this.#value(state, args, this.#scope(state, seen), query, false), isNew: true };
    }
    const root = this.#rootOf(state, this.#scope(state));
    const scope = this.#scope(state, seen, root);
    const parameters = state.source.field("Parameters");
    if (parameters.isPresent) return { said: this.#value(state, parameters, scope, query, false), isNew: true };
    const whole = root.path.length === 0 ? atom(root.channel, "json") : sayPathExpression("$", "json", scope);
    return { said: whole, isNew: root !== DATA };
  }

  /** Writes the data, and variables, with one node. */
  #assign(node: string, data: Said | undefined, variables: readonly (readonly [string, Said])[], scope: Scope): void {
    const machine = this.#machine;
    const stored = data === undefined ? undefined : this.#whole(data, scope);
    if (variables.length === 0) {
      machine.node(stored === undefined ? `${node} = null` : `${node} = ${stored.text} into data`);
      return;
    }
    const fields = [...(stored === undefined ? [] : [["data", stored] as const]), ...variables];
    machine.node(`${node} = ${record(fields).text} into { ${fields.map(([name]) => name).join(", ")} }`);
  }

  /** A value that becomes the data. */
  #whole(said: Said, scope: Scope): Said {
    if (scope.shape === undefined || said.kind === "any" || said.text === "data") return said;
    // A record of fields that the type knows fits; a field in quotes is unknown to it.
    if (said.text.startsWith("{") && !/[{,]\s*"/.test(said.text)) return said;
    return atom(`${scope.helper("untyped")}(${said.text})`, "any");
  }

  #variables(state: State, source: Source, scope: Scope, query: Query): (readonly [string, Said])[] {
    return source
      .field("Assign")
      .entries()
      .map(([name, value]) => {
        const isPath = name.endsWith(".$");
        if (isPath && query === "JSONata")
          throw new ImportError(value.at, `\`${name}\` is not the name of a variable in JSONata`);
        const said = isPath ? this.#path(state, value, scope) : this.#value(state, value, scope, query, false);
        return [this.#machine.variable(isPath ? name.slice(0, -2) : name), said] as const;
      });
  }

  /** The data after a state, of its result; `undefined`: the data stays. */
  #output(state: State, result: Said, scope: Scope, query: Query): Said | undefined {
    const { source } = state;
    if (query === "JSONata") {
      const output = source.field("Output");
      return output.isPresent ? this.#value(state, output, scope, query, true) : result;
    }
    const selector = source.field("ResultSelector");
    const selected = selector.isPresent
      ? this.#value(state, selector, this.#scope(state, {}, { channel: result.text, path: [] }), query, isWhole(source))
      : result;
    const combined = this.#combine(source.field("ResultPath"), selected, scope);
    const outputPath = source.field("OutputPath");
    if (outputPath.value === null) return atom("{}", "json");
    if (!outputPath.isPresent || outputPath.value === "$") return combined;
    return this.#said(outputPath, `${state.node}_OutputPath`, scope, () => {
      const { name, path } = parsePath(outputPath.text());
      if (name !== undefined) return sayPathExpression(outputPath.text(), "json", scope);
      return atom(`${scope.helper("at")}(${combined?.text ?? "data"}, ${quoted(pathText(path))})`, "any");
    });
  }

  /** The data with a result at `ResultPath`; `undefined`: the data stays. */
  #combine(source: Source, result: Said, scope: Scope): Said | undefined {
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
  #plainOutput(state: State, source = state.source): Said | undefined {
    const query = this.#machine.queryOf(state);
    const scope = this.#scope(state);
    if (query === "JSONata") {
      const output = source.field("Output");
      return output.isPresent ? this.#value(state, output, scope, query, true) : undefined;
    }
    const root = this.#rootOf(state, scope);
    const outputPath = state.source.field("OutputPath");
    if (outputPath.value === null) return atom("{}", "json");
    if (outputPath.isPresent && outputPath.value !== "$")
      return this.#path(state, outputPath, this.#scope(state, {}, root));
    if (root === DATA) return undefined;
    return root.path.length === 0
      ? atom(root.channel, "json")
      : sayPathExpression("$", "json", this.#scope(state, {}, root));
  }

  /** A node behind the work of a state, if its result is not the data as it is. Returns the last node. */
  #finish(state: State, result: string, from: string, isStored: boolean): void {
    const query = this.#machine.queryOf(state);
    const scope = this.#scope(state, { result });
    const output = isStored ? undefined : this.#output(state, atom(result, "json"), scope, query);
    // Assignments of JSONPath see the result as `$`.
    const assignScope =
      query === "JSONata" ? scope : this.#scope(state, { result }, { channel: isStored ? "data" : result, path: [] });
    const variables = this.#variables(state, state.source, assignScope, query);
    if (output === undefined && variables.length === 0) {
      this.#next(state, from);
      return;
    }
    const node = this.#machine.local.fresh(`${state.node}_output`);
    this.#assign(node, output, variables, scope);
    this.#machine.edge(`${from} -> ${node}`);
    this.#next(state, node);
  }

  /** Whether the result becomes the data as it is. */
  #replaces(state: State): boolean {
    const has = (field: string): boolean => state.source.field(field).isPresent;
    if (has("Assign") || has("Output") || has("ResultSelector")) return false;
    const { value } = state.source.field("OutputPath");
    if (value !== undefined && value !== "$") return false;
    const path = state.source.field("ResultPath").value;
    return path === undefined || path === "$";
  }

  #pass(state: State): void {
    const { source, node } = state;
    const query = this.#machine.queryOf(state);
    const scope = this.#scope(state);
    const variablesOf = (root: Scope): (readonly [string, Said])[] => this.#variables(state, source, root, query);
    if (query === "JSONata") {
      this.#assign(node, this.#plainOutput(state), variablesOf(scope), scope);
      this.#next(state, node);
      return;
    }
    const root = this.#rootOf(state, scope);
    const inner = this.#scope(state, {}, root);
    const result = source.field("Result");
    const parameters = source.field("Parameters");
    const path = source.field("ResultPath").value;
    const isRoot = path === undefined || path === "$";
    const target = isRoot && !source.field("OutputPath").isPresent ? { path: [] } : undefined;
    let said: Said;
    if (result.isPresent) said = this.#literal(result, target, scope);
    else if (parameters.isPresent) said = this.#value(state, parameters, inner, query, target !== undefined);
    else said = root.path.length === 0 ? atom(root.channel, "json") : sayPathExpression("$", "json", inner);
    const output = this.#output(state, said, scope, query);
    this.#assign(node, output?.text === "data" ? undefined : output, variablesOf(inner), scope);
    this.#next(state, node);
  }

  /** A value without paths. Its fields count as fields of the data. */
  #literal(source: Source, target: { readonly path: readonly string[] } | undefined, scope: Scope): Said {
    const { value } = source;
    if (!isObject(value) || target === undefined || target.path.length > 15)
      return into(target, sayLiteral(source), scope);
    return record(
      source
        .entries()
        .map(([name, field]) => [name, this.#literal(field, { path: [...target.path, name] }, scope)] as const),
    );
  }

  #fail(state: State): void {
    const { source, node } = state;
    const query = this.#machine.queryOf(state);
    const scope = this.#scope(state);
    const part = (field: string): Said | undefined => {
      const path = source.field(`${field}Path`);
      if (path.isPresent) return this.#path(state, path, scope, "string", true);
      const value = source.field(field);
      if (!value.isPresent || value.value === null || value.value === "") return undefined;
      if (query === "JSONata" && jsonataOf(value.value) !== undefined)
        return this.#said(value, `${node}_${field}`, scope, () => sayJsonata(jsonataOf(value.value)!, scope, "string"));
      return atom(quoted(value.text()), "string");
    };
    const error = part("Error");
    const cause = part("Cause");
    if (this.#machine.outer !== undefined) {
      // The error edges of the calling graph read the name.
      const raise = scope.helper("raise");
      this.#machine.node(
        `${node} = ${raise}({ error: ${error?.text ?? '"States.TaskFailed"'}, cause: ${cause?.text ?? '""'} })`,
      );
    } else {
      const isText = [error, cause].every((each) => each === undefined || each.text.startsWith('"'));
      const parts = [error, cause].filter((each) => each !== undefined);
      const message = isText
        ? quoted(parts.map(({ text }) => JSON.parse(text) as string).join(": ") || state.name)
        : `join([${parts.map(({ text }) => text).join(", ")}], ": ")`;
      this.#machine.node(`${node} = fail(${message})`);
    }
    this.#machine.edge(`${node} -> end`);
  }

  #wait(state: State): void {
    const { source, node } = state;
    const machine = this.#machine;
    const query = machine.queryOf(state);
    const scope = this.#scope(state);
    const given = ["Seconds", "SecondsPath", "Timestamp", "TimestampPath"]
      .map((field) => source.field(field))
      .filter((field) => field.isPresent);
    const [value] = given;
    if (value === undefined || given.length > 1)
      throw new ImportError(
        source.at,
        `a Wait has one of Seconds, SecondsPath, Timestamp and TimestampPath, and \`${state.name}\` has ${given.length}`,
      );
    const expression = query === "JSONata" ? jsonataOf(value.value) : undefined;
    const read = (kind: Kind): Said => {
      if (expression !== undefined)
        return this.#said(value, `${node}_${lastKey(value)}`, scope, () => sayJsonata(expression, scope, kind));
      return this.#path(state, value, this.#scope(state, {}, this.#rootOf(state, scope)), kind, true);
    };
    let last = node;
    const key = lastKey(value);
    if (key === "Seconds" && expression === undefined) {
      if (typeof value.value !== "number" || !(value.value >= 0) || value.value > 99_999_999) throw wrongSeconds(value);
      machine.node(`${node} = sleep(${value.value === 0 ? "0s" : duration(value.value * 1000)})`);
    } else if (key.startsWith("Seconds")) {
      const seconds = read("float");
      // An expression of JSONata may have no value.
      const number = expression === undefined ? operand(seconds) : `${scope.helper("untyped")}(${seconds.text})`;
      machine.node(`${node} = sleep(round(${number} * 1000))`);
    } else {
      const text =
        key === "Timestamp" && expression === undefined ? atom(quoted(value.text()), "string") : read("string");
      const due = machine.local.fresh(`${node}_due`);
      machine.channels.push(`  state ${due}: int = 0`);
      machine.node(`${node} = ${scope.helper("millisecondsUntil")}(${text.text}) into ${due}`);
      last = machine.local.fresh(`${node}_sleep`);
      machine.node(`${last} = sleep(${due})`);
      machine.edge(`${node} -> ${last}`);
    }
    const output = this.#plainOutput(state);
    const variables = this.#variables(state, source, scope, query);
    if (output !== undefined || variables.length > 0) {
      const after = machine.local.fresh(`${node}_output`);
      this.#assign(after, output, variables, scope);
      machine.edge(`${last} -> ${after}`);
      last = after;
    }
    this.#next(state, last);
  }

  #task(state: State): void {
    const { source, node } = state;
    const machine = this.#machine;
    const resource = source.field("Resource");
    const { name, isCallback } = nameOfResource(resource);
    const token = callbackOf(state.name);
    const context = new Map<string, Said>(isCallback ? [["Task.Token", atom(quoted(token), "string")]] : []);
    const { said } = this.#input(state, context);
    const call = `${machine.file.task(name, `\`${resource.text().replaceAll("`", "'")}\``)}(${said.text})`;
    for (const [field, message] of [
      ["Credentials", "the credentials are those of the process of the run"],
      ["HeartbeatSeconds", "a node has no heartbeat: `timeout` limits the whole attempt"],
      ["HeartbeatSecondsPath", "a node has no heartbeat: `timeout` limits the whole attempt"],
      ["TimeoutSecondsPath", "the time limit of a node is a constant, and is left out"],
    ] as const)
      if (source.field(field).isPresent) machine.change(source.field(field).at, message);
    const seconds = source.field("TimeoutSeconds");
    const isConstant = typeof seconds.value === "number" && seconds.value > 0;
    if (seconds.isPresent && !isConstant)
      machine.change(seconds.at, "the time limit of a node is a constant, and is left out");
    const limit = isConstant ? duration(Math.min(seconds.value as number, 99_999_999) * 1000) : undefined;
    const policies = policiesOf(state, machine);
    const replaces = this.#replaces(state);
    const dropped =
      source.field("ResultPath").value === null &&
      !source.field("Assign").isPresent &&
      !source.field("Output").isPresent;
    let result = "data";
    let target = " into data";
    if (dropped) target = "";
    else if (!replaces) {
      result = machine.local.fresh(`${node}_result`);
      machine.channels.push(`  state ${result}: json = null`);
      target = ` into ${result}`;
    }
    let last = node;
    if (isCallback) {
      machine.change(
        resource.at,
        `the run waits for the signal \`${token}\` in the place of a call with the task token`,
      );
      machine.node(`${node} = ${call}${block(policies)}`);
      last = machine.local.fresh(`${node}_callback`);
      machine.node(
        `${last} = receive(${quoted(token)})${target}${block(limit === undefined ? [] : [`within ${limit}`])}`,
      );
      machine.edge(`${node} -> ${last}`);
    } else
      machine.node(
        `${node} = ${call}${target}${block([...policies, ...(limit === undefined ? [] : [`timeout ${limit}`])])}`,
      );
    this.#catch(state, last === node ? [node] : [node, last]);
    if (dropped) {
      const output = this.#plainAfter(state);
      if (output === undefined) this.#next(state, last);
      else {
        const after = machine.local.fresh(`${node}_output`);
        this.#assign(after, output, [], this.#scope(state));
        machine.edge(`${last} -> ${after}`);
        this.#next(state, after);
      }
    } else this.#finish(state, result, last, replaces);
  }

  /** `OutputPath` of a state whose result is dropped. */
  #plainAfter(state: State): Said | undefined {
    const { value } = state.source.field("OutputPath");
    if (value === undefined || value === "$") return undefined;
    return value === null
      ? atom("{}", "json")
      : this.#path(state, state.source.field("OutputPath"), this.#scope(state));
  }

  readonly #branches = new Map<State, readonly string[]>();

  #branchNodes(state: State): readonly string[] {
    const known = this.#branches.get(state);
    if (known !== undefined) return known;
    const branches = state.source.field("Branches").items();
    if (branches.length === 0) throw state.source.field("Branches").wrong("branches");
    const made =
      branches.length === 1
        ? [state.node]
        : branches.map((_, index) => this.#machine.local.fresh(`${state.node}_${index + 1}`));
    this.#branches.set(state, made);
    return made;
  }

  #parallel(state: State): void {
    const { source, node } = state;
    const machine = this.#machine;
    const nodes = this.#branchNodes(state);
    const { said, isNew } = this.#input(state);
    const policies = policiesOf(state, machine);
    if (nodes.length > 1 && policies.length > 0)
      machine.change(source.field("Retry").at, "each branch is retried by itself");
    const results: string[] = [];
    for (const [index, branch] of source.field("Branches").items().entries()) {
      const written = this.#inner(branch, `${machine.states.size > 0 ? node : ""}_branch_${index + 1}`, state, !isNew);
      const result = machine.local.fresh(`${node}_${index + 1}_result`);
      machine.channels.push(`  state ${result}: json = null`);
      results.push(result);
      machine.node(
        `${nodes[index]} = ${written.graph}(${this.#inputs(said, written)}) into { data: ${result} }${block(policies)}`,
      );
    }
    this.#catch(state, nodes);
    const list = machine.local.fresh(`${node}_results`);
    const isDropped = source.field("ResultPath").value === null;
    const from = nodes.length === 1 ? nodes[0]! : `all(${nodes.join(", ")})`;
    if (isDropped && !source.field("Assign").isPresent) {
      // The data stays, and a node joins the branches.
      if (nodes.length === 1) return this.#next(state, from);
      this.#assign(list, this.#plainAfter(state), [], this.#scope(state));
      machine.edge(`${from} -> ${list}`);
      return this.#next(state, list);
    }
    if (this.#replaces(state)) {
      this.#assign(list, atom(`[${results.join(", ")}]`, "json"), [], this.#scope(state));
      machine.edge(`${from} -> ${list}`);
      return this.#next(state, list);
    }
    const channel = machine.local.fresh(`${node}_list`);
    machine.channels.push(`  state ${channel}: json[] = []`);
    machine.node(`${list} = [${results.join(", ")}] into ${channel}`);
    machine.edge(`${from} -> ${list}`);
    this.#finish(state, channel, list, false);
  }

  #map(state: State): void {
    const { source, node } = state;
    const machine = this.#machine;
    const query = machine.queryOf(state);
    const processor = source.field("ItemProcessor").isPresent
      ? source.field("ItemProcessor")
      : source.field("Iterator");
    if (!processor.isPresent) throw source.field("ItemProcessor").wrong("a state machine");
    for (const field of ["ItemBatcher"]) {
      if (source.field(field).isPresent)
        throw new ImportError(
          source.field(field).at,
          "a graph is called for each item, and not for batches of items",
          "let the task before the Map make lists of items",
        );
    }
    for (const [field, message] of [
      ["ResultWriter", "the results stay in the run: write them with a node behind the Map"],
      ["Label", "the label has no meaning here"],
      ["MaxConcurrencyPath", "the number of items that run at once is a constant, and is left out"],
    ] as const)
      if (source.field(field).isPresent) machine.change(source.field(field).at, message);
    const scope = this.#scope(state);
    const root = query === "JSONPath" ? this.#rootOf(state, scope) : DATA;
    const listScope = this.#scope(state, {}, root);
    const reader = source.field("ItemReader");
    const items = query === "JSONata" ? source.field("Items") : source.field("ItemsPath");
    let list: Said;
    let first = node;
    if (reader.isPresent) {
      const { name } = nameOfResource(reader.field("Resource"));
      machine.change(
        reader.at,
        `the function \`${machine.file.task(name, `\`${reader.field("Resource").text().replaceAll("`", "'")}\`: returns the items`)}\` reads the items`,
      );
      const argumentsOf = reader.field(query === "JSONata" ? "Arguments" : "Parameters");
      const said = argumentsOf.isPresent
        ? this.#value(state, argumentsOf, listScope, query, false)
        : atom("data", "json");
      const read = machine.local.fresh(`${node}_items`);
      machine.channels.push(`  state ${read}: json[] = []`);
      machine.node(`${node} = ${machine.file.task(name, "")}(${said.text}) into ${read}`);
      first = machine.local.fresh(`${node}_each`);
      machine.edge(`${node} -> ${first}`);
      list = atom(read, "any");
    } else if (query === "JSONata") {
      list = items.isPresent ? this.#value(state, items, scope, query, false) : atom("data", "json");
    } else
      list = items.isPresent
        ? this.#path(state, items, listScope)
        : this.#path(state, items.isPresent ? items : asPath(items), listScope);
    const listText =
      list.kind === "any" || list.text.startsWith("[") ? list.text : `${scope.helper("untyped")}(${list.text})`;
    const context = new Map<string, Said>([
      ["Map.Item.Value", atom("item", "any")],
      ["Map.Item.Index", atom("index", "float")],
    ]);
    const selector =
      query === "JSONata" || source.field("ItemSelector").isPresent
        ? source.field("ItemSelector")
        : source.field("Parameters");
    const own = selector.isPresent
      ? this.#value(state, selector, this.#scope(state, { context }, root), query, false)
      : atom(`${scope.helper("untyped")}(item)`, "any");
    const written = this.#inner(processor, `${node}_item`, state, false, !selector.isPresent);
    const result = machine.local.fresh(`${node}_results`);
    machine.channels.push(`  state ${result}: json[] = []`);
    const policies = policiesOf(state, machine);
    if (policies.length > 0) machine.change(source.field("Retry").at, "each item is retried by itself");
    itemPolicies(state, machine, policies);
    const index = /\bindex\b/.test(own.text) ? ", index" : "";
    machine.node(
      `${first} = ${written.graph}(${this.#inputs(own, written)}) for item${index} in ${listText} into { data: ${result} }${block(policies)}`,
    );
    this.#catch(state, first === node ? [node] : [node, first]);
    if (source.field("ResultPath").value === null && !source.field("Assign").isPresent) return this.#next(state, first);
    this.#finish(state, result, first, false);
  }

  #inner(source: Source, wish: string, state: State, isSame: boolean, isOwn = false): WrittenMachine {
    const machine = this.#machine;
    return this.#writeMachine(source, wish.replace(/^_/, ""), machine.file, {
      depth: (machine.outer?.depth ?? 0) + 1,
      query: machine.queryOf(state),
      isTyped: isOwn || (isSame && machine.isTyped),
      ...(isSame ? { shape: machine.shape } : {}),
      hasVariable: (name) => machine.hasVariable(name),
    });
  }

  #inputs(input: Said, { captured }: WrittenMachine): string {
    const variables = [...captured].map(([name, channel]) => `${channel}: ${this.#machine.variable(name)}`);
    return [`input: ${input.text}`, ...variables].join(", ");
  }

  /** The edges that `Catch` describes. */
  #catch(state: State, nodes: readonly string[]): void {
    const machine = this.#machine;
    const query = machine.queryOf(state);
    const from = nodes.length === 1 ? nodes[0]! : `any(${nodes.join(", ")})`;
    const catchers = state.source.field("Catch").items();
    if (catchers.length > 0 && nodes.length > 1 && state.type === "Parallel")
      machine.change(state.source.field("Catch").at, "the other branches finish when one has failed");
    const conditions = sayErrorNames(catchers);
    for (const [index, catcher] of catchers.entries()) {
      const target = machine.state(catcher.field("Next"));
      const condition = conditions[index];
      if (condition === undefined) {
        machine.change(catcher.at, "the catchers before this one take every error: it is left out");
        continue;
      }
      const node = machine.local.fresh(`${state.node}_caught`);
      const output = atom("{ Error: error.name ?? error.code, Cause: error.message }", "json");
      const scope = this.#scope(state, { error: output });
      let said: Said | undefined;
      if (query === "JSONata") {
        const own = catcher.field("Output");
        said = own.isPresent ? this.#value(state, own, scope, query, true) : output;
        if (!own.isPresent) for (const field of ["Error", "Cause"]) scope.used.note([field], "string");
      } else {
        const path = catcher.field("ResultPath");
        said = this.#combine(path, output, scope);
        const at = path.isPresent && path.value !== null && path.value !== "$" ? parsePath(path.text()).path : [];
        if (path.value !== null) for (const field of ["Error", "Cause"]) scope.used.note([...at, field], "string");
      }
      const inner = query === "JSONata" ? scope : this.#scope(state, {}, { channel: output.text, path: [] });
      const variables = this.#variables(state, catcher, inner, query);
      const edge = condition === "" ? " on error" : ` on error ${condition}`;
      if (said === undefined && variables.length === 0) {
        const next = this.#isInline(target) ? target.node : this.#target(target);
        machine.edge(`${from} -> ${next}${edge}`);
        continue;
      }
      this.#assign(node, said, variables, scope);
      machine.edge(`${from} -> ${node}${edge}`);
      machine.edge(`${node} -> ${this.#target(target)}`);
    }
  }

  /** The arms of a Choice, with nodes for what they write. */
  #writeArms(state: State): readonly string[] {
    const { source, node, name } = state;
    const machine = this.#machine;
    const query = machine.queryOf(state);
    const choices = source.field("Choices").items();
    if (choices.length === 0) throw source.field("Choices").wrong("rules");
    const scope = this.#scope(state, {}, query === "JSONPath" ? this.#rootOf(state, this.#scope(state)) : DATA);
    const leave = (rule: Source, target: State): string => {
      const variables = this.#variables(state, rule, scope, query);
      const output = this.#plainOutput(state, query === "JSONata" && rule.field("Output").isPresent ? rule : source);
      if (variables.length === 0 && output === undefined) return this.#target(target);
      const after = machine.local.fresh(`${node}_output`);
      this.#assign(after, output, variables, this.#scope(state));
      machine.edge(`${after} -> ${this.#target(target)}`);
      return after;
    };
    const arms = choices.map((rule) => {
      const said = this.#said(rule, `${node}_rule`, scope, () => {
        if (query === "JSONPath") return sayRule(rule, scope);
        const condition = rule.field("Condition");
        if (condition.value === true || condition.value === false) return atom(String(condition.value), "bool");
        const text = jsonataOf(condition.value);
        if (text === undefined) throw condition.wrong("an expression in {% … %}");
        return sayJsonata(text, scope, "bool");
      });
      return `${said.text} -> ${leave(rule, machine.state(rule.field("Next")))}`;
    });
    const fallback = source.field("Default");
    if (fallback.isPresent) return [...arms, `else -> ${leave(source, machine.state(fallback))}`];
    const none = machine.local.fresh(`${node}_none`);
    machine.node(`${none} = fail(${quoted(`States.NoChoiceMatched: no rule of ${name} holds`)})`);
    machine.edge(`${none} -> end`);
    return [...arms, `else -> ${none}`];
  }
}
