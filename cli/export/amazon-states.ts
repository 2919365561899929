/**
 * Graphs as state machines of Amazon States Language, with JSONata. A machine has one state at a time: the channels are its
 * variables, branches that meet in a barrier are a Parallel, a called graph is a Parallel of one branch, and a node with `for` is a
 * Map. Inner machines have variables with other names, because they cannot assign those of the machine around.
 */
import type { Span } from "../../diagnostics/source.ts";
import {
  END_NAME,
  FINALLY,
  START,
  type BoundCall,
  type BoundChannel,
  type BoundEdge,
  type BoundGraph,
  type BoundNode,
  type BoundReference,
  type TypedExpression,
} from "../../compiler/bind/bound-graph.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import { constantOf } from "./constant.ts";
import {
  constantValue,
  fieldText,
  filterText,
  inPercent,
  helperText,
  JSONATA_FUNCTIONS,
  jsonataText,
  jsonataValue,
  NoJsonata,
  type ExpressionCall,
  type JsonataScope,
} from "./jsonata-text.ts";
import { ExportError, Losses, type Exported } from "./losses.ts";
import { areExclusive } from "./exclusive-conditions.ts";
import { findHelpers, readModuleFile, type HelperOf, type ReadModule } from "./imported-stubs.ts";
import { branchesOf, type Branches } from "./parallel-branches.ts";
import { textOf } from "./state-idiom.ts";

/** Machines nest at most so deep, as in the importer. */
const DEEPEST = 12;

/** The longest name of a state. */
const NAME_LENGTH = 80;

type State = Record<string, Json>;

/** What all machines of a file share. */
interface Shared {
  readonly losses: Losses;
  /** State names are unique in the whole machine, and names of variables in machines inside of each other. */
  readonly stateNames: Set<string>;
  readonly variables: Set<string>;
  readonly helperOf: HelperOf;
}

/** @throws ExportError */
export function exportAmazonStates(graph: BoundGraph, readModule: ReadModule = readModuleFile): Exported {
  const shared: Shared = {
    losses: new Losses(),
    stateNames: new Set(),
    variables: new Set(["states", ...JSONATA_FUNCTIONS]),
    helperOf: findHelpers(readModule),
  };
  const machine = graphMachine(graph, shared, 0);
  const text = JSON.stringify({ Comment: graph.doc ?? graph.name, QueryLanguage: "JSONata", ...machine }, null, 2);
  return { text: `${text}\n`, losses: shared.losses.list };
}

/** The machine of a graph: its input has the inputs, and its output the outputs. */
function graphMachine(graph: BoundGraph, shared: Shared, depth: number): State {
  if (depth > DEEPEST)
    throw new ExportError({
      file: graph.file,
      span: graph.declaration.name.span,
      message: `graphs call each other more than ${DEEPEST} levels deep`,
      help: "export the inner graph by itself",
    });
  const variables = new Map(graph.channels.map(({ name }) => [name, freshName(name, shared.variables)]));
  const writer = new MachineWriter(graph, shared, depth, variables, undefined);
  writer.reportGraph();
  const start: State = {
    Type: "Pass",
    Assign: Object.fromEntries(graph.channels.map((channel) => [variables.get(channel.name)!, startValue(channel)])),
  };
  const outputs = graph.channels.filter(({ role }) => role === "output");
  const output = Object.fromEntries(outputs.map(({ name }) => [name, inPercent(`$${variables.get(name)!}`)]));
  return writer.machine(start, { Type: "Succeed", Output: output }, (): string =>
    writer.continueFrom([START], graph.declaration.name.span),
  );
}

function startValue({ name, role, initial, reducer, type }: BoundChannel): Json {
  const kind = reducer?.kind;
  const empty: Json =
    kind === "append" || kind === "union" || (kind === "merge" && type.kind === "list")
      ? []
      : kind === "merge"
        ? {}
        : kind === "sum"
          ? 0
          : null;
  const value = initial ?? empty;
  if (role !== "input" && role !== "config") return constantValue(value);
  const given = `$states.input.${fieldText(name)}`;
  return inPercent(initial === undefined ? given : `$exists(${given}) ? ${given} : ${JSON.stringify(value)}`);
}

function freshName(wish: string, taken: Set<string>): string {
  const base = wish.slice(0, NAME_LENGTH - 4);
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

/** How the nodes of a branch leave it. */
interface Exit {
  /** Members of the barrier behind the branches. */
  readonly members: ReadonlySet<string>;
}

class MachineWriter {
  readonly #graph: BoundGraph;
  readonly #shared: Shared;
  readonly #depth: number;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #exit: Exit | undefined;
  /** The machine around a branch. */
  readonly #outer: MachineWriter | undefined;
  readonly #states = new Map<string, State>();
  /** The states of nodes, by node. */
  readonly #named = new Map<string, string>();
  readonly #open: BoundNode[] = [];
  /** The variable of the last caught error, if something reads it. */
  #error: string | undefined;
  /** States with the calls of an expression, before the state that reads the results. */
  #calls: State[] = [];
  #last = "";

  constructor(
    graph: BoundGraph,
    shared: Shared,
    depth: number,
    variables: ReadonlyMap<string, string>,
    exit: Exit | undefined,
    outer?: MachineWriter,
  ) {
    this.#graph = graph;
    this.#shared = shared;
    this.#depth = depth;
    this.#variables = variables;
    this.#exit = exit;
    this.#outer = outer;
  }

  /** Writes the states between a first and a last one. */
  machine(first: State, last: State, enter: () => string): State {
    const name = this.#fresh(`start of ${this.#graph.name}`);
    this.#states.set(name, first);
    this.#last = this.#fresh(`end of ${this.#graph.name}`);
    first["Next"] = enter();
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) this.#node(node);
    if (this.#error !== undefined) {
      const outer = this.#outer === undefined ? null : inPercent(`$${this.#outer.#errorVariable()}`);
      first["Assign"] = { ...(first["Assign"] as State | undefined), [this.#error]: outer };
      for (const { Catch = [] } of this.#states.values())
        for (const catcher of Catch as unknown as State[])
          catcher["Assign"] = { [this.#error]: inPercent("$states.errorOutput") };
    }
    this.#states.set(this.#last, last);
    return { StartAt: name, States: Object.fromEntries(this.#states) };
  }

  reportGraph(): void {
    const graph = this.#graph;
    for (const { kind, span } of graph.declaration.statements) {
      if (kind === "Limit")
        this.#lose(span, "a state machine has no such limit", "set `TimeoutSeconds` of the machine instead");
      if (kind === "Assert")
        this.#lose(span, "a state machine has no assertions", "keep the `.ngraph` file, and check it with `ngc`");
    }
    const typed = graph.channels.find(({ type }) => type.kind !== "json");
    if (typed !== undefined)
      this.#lose(
        typed.declaration.type.span,
        "variables of a state machine have no types",
        "check values in the functions",
      );
    for (const { source, span } of graph.edges) {
      if (source.kind === "nodes" && source.nodes.some(({ name }) => name === FINALLY))
        this.#refuse(span, "`finally` has no form in a state machine", "clean up in the system that starts it");
    }
    for (const { role, name, declaration } of graph.channels) {
      if (role === "memory")
        this.#lose(declaration.span, `\`${name}\` does not outlive an execution`, "read and write it in the functions");
    }
  }

  #lose(span: Span, message: string, help: string): void {
    this.#shared.losses.add({ file: this.#graph.file, span, message, help });
  }

  #refuse(span: Span, message: string, help: string): never {
    throw new ExportError({ file: this.#graph.file, span, message, help });
  }

  #fresh(wish: string): string {
    return freshName(wish, this.#shared.stateNames);
  }

  #scope(locals: ReadonlyMap<string, string> = new Map()): JsonataScope {
    return {
      channel: (index) => `$${this.#variables.get(this.#graph.channels[index]!.name)!}`,
      typeOf: (index) => this.#graph.channels[index]?.type,
      locals,
      helper: (index) => this.#shared.helperOf(this.#graph, this.#graph.functions[index]!),
      error: () => `$${this.#errorVariable()}`,
      ...(locals.size === 0 ? { called: (call: ExpressionCall) => this.#callBefore(call) } : {}),
    };
  }

  /** A pure function that an expression calls runs in a Task before. Returns the variable with its result. */
  #callBefore({ function: index, args }: ExpressionCall): string {
    const { name } = this.#graph.functions[index]!;
    const scope = this.#scope();
    const [only] = args;
    const input = args.length === 1 && only!.op === "record" ? fieldsOf(only!, scope) : undefined;
    const variable = freshName(`${name}_result`, this.#shared.variables);
    this.#calls.push({
      Type: "Task",
      Resource: `\${${name}}`,
      Arguments: input ?? { arguments: args.map((arg) => jsonataValue(arg, scope)) },
      Assign: { [variable]: inPercent("$states.result") },
    });
    return `$${variable}`;
  }

  /** Puts the calls of a state's expressions before it. Returns the state that is entered. */
  #enterThroughCalls(name: string, calls = this.#calls): string {
    this.#calls = [];
    return calls.reduceRight<string>((next, call) => {
      const own = this.#fresh(/\{(.*)\}/.exec(String(call["Resource"]))![1]!);
      this.#states.set(own, { ...call, Next: next });
      return own;
    }, name);
  }

  #errorVariable(): string {
    this.#error ??= freshName("caught", this.#shared.variables);
    return this.#error;
  }

  #say<T>(span: Span, say: () => T): T {
    try {
      return say();
    } catch (error) {
      if (!(error instanceof NoJsonata)) throw error;
      return this.#refuse(span, error.message, "compute the value in an imported function, with a node of its own");
    }
  }

  #value(value: TypedExpression, scope = this.#scope()): Json {
    return this.#say(value.span, () => jsonataValue(value.expression, scope));
  }

  #text(value: TypedExpression, scope = this.#scope()): string {
    return this.#say(value.span, () => jsonataText(value.expression, scope));
  }

  // Control flow ------------------------------------------------------------------------------------

  /** The state that runs after some sources have ended: one node, `start`, or the members of a barrier. */
  continueFrom(sources: readonly string[], span: Span, edges = this.#edgesFrom(sources)): string {
    if (sources.some((source) => this.#exit?.members.has(source))) {
      if (edges[0] !== undefined)
        this.#refuse(
          edges[0].span,
          "a member of the barrier also leads elsewhere, and a branch of a Parallel has one way on",
          "lead the other edge from the node behind the barrier",
        );
      return this.#last;
    }
    const decisions = edges.filter(({ to }) => to.kind !== "plain");
    const plain = edges.filter(({ to }) => to.kind === "plain");
    if (decisions.length > 0 && plain.length > 0)
      this.#refuse(
        decisions[0]!.span,
        "a state has one next state, and here a condition stands beside other edges",
        "lead one edge to a node, and decide behind it",
      );
    if (decisions.length > 0) return this.#decide(sources, decisions);
    return this.#goto(plain.flatMap(targetsOf), span);
  }

  #edgesFrom(sources: readonly string[]): readonly BoundEdge[] {
    return this.#graph.edges.filter(({ source, onError, span }) => {
      if (onError) return false;
      if (source.kind === "nodes") return source.nodes.some(({ name }) => sources.includes(name));
      const isMember = source.members.some((group) => group.some(({ name }) => sources.includes(name)));
      if (isMember && !sources.some((name) => this.#exit?.members.has(name)))
        this.#refuse(
          span,
          "the branches of this barrier do not begin at one node",
          "start them with one edge: `a -> b, c`",
        );
      return false;
    });
  }

  #goto(references: readonly BoundReference[], span: Span): string {
    const seen = new Map(references.map((reference) => [reference.name, reference]));
    for (const { name, span: at } of seen.values())
      if (name === "rollback")
        this.#refuse(at, "`rollback` has no form in a state machine", "undo the results with nodes");
    // A branch that ends at once does nothing.
    seen.delete(END_NAME);
    const [only, ...more] = seen.values();
    if (only === undefined) {
      if (this.#exit !== undefined && this.#exit.members.size > 0)
        this.#refuse(
          references[0]?.span ?? span,
          "a branch ends before the barrier behind its Parallel",
          "lead each branch to the barrier",
        );
      return this.#last;
    }
    return more.length === 0 ? this.#stateOf(only.name) : this.#parallel([only, ...more]);
  }

  #stateOf(name: string): string {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const made = this.#fresh(name);
    this.#named.set(name, made);
    this.#open.push(this.#graph.nodes.find((node) => node.name === name)!);
    return made;
  }

  #decide(sources: readonly string[], edges: readonly BoundEdge[]): string {
    const name = this.#fresh(`${sources.join(" and ")} decides`);
    const calls: State[] = [];
    const textOf = (value: TypedExpression): string => {
      const text = this.#text(value);
      calls.push(...this.#calls.splice(0));
      return text;
    };
    const choices: Json[] = [];
    let otherwise: readonly BoundReference[] | undefined;
    const choose = (condition: string, targets: readonly BoundReference[], span: Span): void =>
      void choices.push({ Condition: inPercent(condition), Next: this.#goto(targets, span) });
    const kinds = new Set(edges.map(({ to }) => (to.kind === "otherwise" ? "when" : to.kind)));
    const whens = edges.filter(({ to }) => to.kind === "when");
    const conditions = whens.flatMap(({ to }) => (to.kind === "when" ? [to.condition.expression] : []));
    if (kinds.size > 1 || !areExclusive(conditions) || (whens.length === 0 && edges.length > 1))
      this.#refuse(
        edges[1]!.span,
        "several conditions of one node can hold at once, and a state has one next state",
        "write them as one `match { … }`",
      );
    for (const { to, span } of edges) {
      switch (to.kind) {
        case "when":
          choose(textOf(to.condition), to.targets, span);
          break;
        case "otherwise":
          otherwise = to.targets;
          break;
        case "match": {
          const subject = textOf(to.subject);
          for (const arm of to.arms)
            choose(
              arm.values.map((value) => `${subject} = ${JSON.stringify(value)}`).join(" or "),
              arm.targets,
              arm.span,
            );
          otherwise = to.otherwise?.targets;
          break;
        }
        case "cases":
          for (const arm of to.arms) choose(textOf(arm.condition), arm.targets, arm.span);
          otherwise = to.otherwise?.targets;
          break;
        default:
      }
    }
    // Without a rule that holds, a branch of `when` ends, and a `match` fails.
    const ends = whens.length > 0 && otherwise === undefined;
    if (ends) otherwise = [];
    this.#states.set(name, {
      Type: "Choice",
      Choices: choices,
      ...(otherwise === undefined ? {} : { Default: this.#goto(otherwise, edges[0]!.span) }),
    });
    return this.#enterThroughCalls(name, calls);
  }

  #parallel(targets: readonly BoundReference[]): string {
    const found = branchesOf(this.#graph, targets, this.#variables);
    if ("message" in found) return this.#refuse(found.span, found.message, found.help);
    const { branches, join, shared } = found satisfies Branches;
    const name = this.#fresh(targets.map((target) => target.name).join(" and "));
    const state: State = { Type: "Parallel" };
    this.#states.set(name, state);
    const updates = new Map<string, string>();
    state["Branches"] = branches.map(({ first, writes }, index) => {
      const own = new Map(this.#variables);
      const assign: [string, Json][] = [];
      const output: [string, Json][] = [];
      for (const channel of writes) {
        const outer = `$${this.#variables.get(channel)!}`;
        const variable = freshName(`${channel}_${index + 1}`, this.#shared.variables);
        own.set(channel, variable);
        const kind = shared.get(channel);
        assign.push([variable, kind === undefined ? inPercent(outer) : kind === "append" ? [] : 0]);
        output.push([channel, inPercent(`$${variable}`)]);
        const result = `$states.result[${index}].${fieldText(channel)}`;
        const before = updates.get(channel) ?? outer;
        updates.set(
          channel,
          kind === undefined ? result : kind === "append" ? `$append(${before}, ${result})` : `${before} + ${result}`,
        );
      }
      const members = new Set(
        join?.source.kind === "nodes" ? [] : (join?.source.members.flat() ?? []).map(({ name }) => name),
      );
      const writer = new MachineWriter(this.#graph, this.#shared, this.#depth + 1, own, { members }, this);
      return writer.machine(
        { Type: "Pass", ...(assign.length === 0 ? {} : { Assign: Object.fromEntries(assign) }) },
        { Type: "Succeed", Output: Object.fromEntries(output) },
        () => writer.#stateOf(first),
      );
    });
    if (updates.size > 0)
      state["Assign"] = Object.fromEntries(
        [...updates].map(([channel, text]) => [this.#variables.get(channel)!, inPercent(text)]),
      );
    state["Next"] =
      join === undefined ? this.#goto([], targets[0]!.span) : this.continueFrom([`${name} joined`], join.span, [join]);
    return name;
  }

  // Nodes -------------------------------------------------------------------------------------------

  #node(node: BoundNode): void {
    this.#policies(node);
    const name = this.#named.get(node.name)!;
    const state: State = { ...(node.doc === undefined ? {} : { Comment: node.doc }) };
    this.#states.set(name, state);
    const next = (): void => {
      leave();
      state["Next"] = this.continueFrom([node.name], node.declaration.name.span);
    };
    /** The node's name is that of the state that is entered. */
    const leave = (): void => {
      if (this.#calls.length === 0) return;
      const policies = Object.fromEntries(
        ["Retry", "Catch"].flatMap((key) => (key in state ? [[key, state[key]!]] : [])),
      );
      const own = this.#fresh(`${node.name} called`);
      this.#states.set(own, state);
      const [first, ...calls] = this.#calls.map((call): State => ({ ...call, ...policies }));
      this.#states.set(name, { ...first, Next: this.#enterThroughCalls(own, calls) });
    };
    const { call } = node;
    const hasItems = node.each !== undefined;
    if (call.kind === "builtin" && !hasItems && call.signature.name === "fail") {
      const message = call.args[0]?.value;
      Object.assign(state, {
        Type: "Fail",
        Error: "failed",
        ...(message === undefined ? {} : { Cause: this.#value(message) }),
      });
      leave();
      return;
    }
    if (call.kind === "builtin" && !hasItems && call.signature.name === "sleep") {
      const amount = call.args[0]!.value;
      const milliseconds = constantOf(amount.expression);
      if (typeof milliseconds === "number" && milliseconds % 1000 !== 0)
        this.#lose(amount.span, "a Wait has whole seconds: the time is rounded up", "use whole seconds");
      Object.assign(state, {
        Type: "Wait",
        Seconds:
          typeof milliseconds === "number"
            ? Math.ceil(milliseconds / 1000)
            : inPercent(`$ceil(${this.#text(amount)} / 1000)`),
      });
      return next();
    }
    const computed = hasItems ? undefined : this.#computed(node, state);
    if (computed === "fails") {
      leave();
      return;
    }
    if (computed !== undefined) {
      this.#catch(node, state, false);
      Object.assign(state, { Type: "Pass", ...this.#assign(node, computed) });
      return next();
    }
    if (hasItems) this.#map(node, state);
    else if (call.kind === "graph") {
      Object.assign(state, {
        Type: "Parallel",
        Arguments: this.#arguments(call),
        Branches: [graphMachine(call.graph, this.#shared, this.#depth + 1)],
        ...this.#assign(node, "$states.result[0]"),
      });
    } else
      Object.assign(state, {
        ...this.#task(node),
        Arguments: this.#arguments(call),
        ...this.#assign(node, "$states.result"),
      });
    Object.assign(state, this.#retry(node));
    this.#catch(node, state, true);
    next();
  }

  /** The value of a node that calls nothing outside, as JSONata. A call of the imported `raise` is a Fail. */
  #computed({ call, declaration }: BoundNode, state: State): string | undefined {
    if (call.kind === "expression") return this.#text(call.expression);
    const helper = call.kind === "function" ? this.#shared.helperOf(this.#graph, call.function) : undefined;
    if (helper === undefined || call.kind !== "function") return undefined;
    if (helper !== "raise") {
      const args = call.args.map(({ expression }) => expression);
      return this.#say(declaration.call.span, () => helperText(helper, args, this.#scope()));
    }
    const failure = call.args[0]!;
    const text = this.#text(failure);
    Object.assign(state, { Type: "Fail", Error: inPercent(`${text}.error`), Cause: inPercent(`${text}.cause`) });
    return "fails";
  }

  #task(node: BoundNode): State {
    const { call } = node;
    const name = call.kind === "function" ? call.function.name : call.kind === "builtin" ? call.signature.name : "";
    if (name === "")
      this.#refuse(
        node.declaration.call.span,
        "a state machine has no form for this call",
        "move it into an imported function",
      );
    if (call.kind === "builtin")
      this.#lose(
        node.declaration.call.span,
        `\`${name}\` is a function that somebody has to write for the state machine`,
        `replace the resource \`\${${name}}\` by one that does the same`,
      );
    return {
      Type: "Task",
      // A substitution of the template that deploys the machine.
      Resource: `\${${name}}`,
      ...(node.timeout === undefined ? {} : { TimeoutSeconds: Math.ceil(node.timeout / 1000) }),
    };
  }

  /** A single record is the input of the function as it is. */
  #arguments(call: BoundNode["call"], locals?: ReadonlyMap<string, string>): Json {
    const scope = this.#scope(locals);
    if (call.kind === "function") {
      const [only] = call.args;
      const fields =
        call.args.length === 1 ? this.#say(only!.span, () => fieldsOf(only!.expression, scope)) : undefined;
      if (fields !== undefined) return fields;
      return { arguments: call.args.map((arg) => this.#value(arg, scope)) };
    }
    const named = (call as Extract<BoundCall, { readonly kind: "graph" | "builtin" }>).args;
    return Object.fromEntries(named.map(({ name, value }) => [name, this.#value(value, scope)]));
  }

  #map(node: BoundNode, state: State): void {
    const { call, each, declaration } = node;
    const { item, index, list, condition } = each!;
    if (condition !== undefined && index !== undefined)
      this.#refuse(
        declaration.each?.span ?? declaration.span,
        "positions of items that a condition leaves out have no form in a Map",
        "compute the list in a node before",
      );
    const items = this.#text(list);
    const locals = new Map([[item, "$states.context.Map.Item.Value"]]);
    if (index !== undefined) locals.set(index, "$states.context.Map.Item.Index");
    let processor: State;
    if (call.kind === "graph") processor = graphMachine(call.graph, this.#shared, this.#depth + 1);
    else if (call.kind === "expression")
      this.#refuse(
        declaration.call.span,
        "an expression for each item has no form in a Map",
        "write it as a list: `[x for …]`",
      );
    else {
      const name = this.#fresh(`${node.name} item`);
      processor = {
        StartAt: name,
        States: { [name]: { ...this.#task(node), Arguments: inPercent("$states.input"), End: true } },
      };
    }
    Object.assign(state, {
      Type: "Map",
      Items: inPercent(
        condition === undefined
          ? items
          : this.#say(condition.span, () => filterText(items, item, condition.expression, this.#scope())),
      ),
      ItemSelector: this.#arguments(call, locals),
      ...(node.maxParallel === undefined ? {} : { MaxConcurrency: node.maxParallel }),
      ...(node.allowsFailure === true ? { ToleratedFailurePercentage: 100 } : {}),
      ItemProcessor: processor,
      ...this.#assign(node, "$states.result", true),
    });
    if (node.allowsFailure === true)
      this.#lose(
        declaration.span,
        "results of failed items are error objects in a Map",
        "filter the list in the next node",
      );
  }

  #assign({ output, declaration }: BoundNode, result: string, isList = false): State {
    if (output === undefined) return {};
    const span = declaration.output?.span ?? declaration.span;
    const fields = output.kind === "channel" ? [{ ...output, field: undefined }] : output.fields;
    return {
      Assign: Object.fromEntries(
        fields.map(({ field, channel, optional, set }) => {
          const part =
            field === undefined
              ? result
              : isList
                ? `[$map(${result}, function($each) { $each.${fieldText(field)} })]`
                : `${result}.${fieldText(field)}`;
          const update = set === true ? part : this.#update(channel, part, span);
          const variable = this.#variables.get(channel)!;
          return [variable, inPercent(optional === true ? `$exists(${part}) ? ${update} : $${variable}` : update)];
        }),
      ),
    };
  }

  #update(name: string, value: string, span: Span): string {
    const { reducer, type } = this.#graph.channels.find((channel) => channel.name === name)!;
    const current = `$${this.#variables.get(name)!}`;
    switch (reducer?.kind) {
      case "append":
        return `$append(${current}, ${value})`;
      case "sum":
        return `${current} + ${value}`;
      case "union":
        return `$distinct($append(${current}, ${value}))`;
      case "min":
      case "max":
        return `${current} = null ? ${value} : $${reducer.kind}([${current}, ${value}])`;
      case "merge":
        if (type.kind === "list")
          this.#refuse(
            span,
            `\`merge\` of the list \`${name}\` has no form in JSONata`,
            "merge it in an imported function",
          );
        return `$merge([${current}, ${value}])`;
      case "function":
        return this.#refuse(
          span,
          `the reducer of \`${name}\` is an imported function`,
          "call it in a node, and write its result to a channel without a reducer",
        );
      default:
        return value;
    }
  }

  #retry({ tries, declaration }: BoundNode): State {
    if (tries === undefined || tries.attempts <= 1) return {};
    const { min = 0, max = 0 } = tries.backoff ?? {};
    const span = declaration.policies.find(({ kind }) => kind === "Tries")?.span ?? declaration.name.span;
    if (min < 1000 || min % 1000 !== 0 || max % 1000 !== 0)
      this.#lose(span, "a Retry waits whole seconds, and at least one", "use `backoff` with whole seconds");
    const first = Math.max(1, Math.ceil(min / 1000));
    return {
      Retry: [
        {
          ErrorEquals: ["States.ALL"],
          MaxAttempts: tries.attempts - 1,
          IntervalSeconds: first,
          ...(tries.backoff === undefined
            ? { BackoffRate: 1 }
            : { BackoffRate: 2, MaxDelaySeconds: Math.max(first + 1, Math.ceil(max / 1000)) }),
        },
      ],
    };
  }

  #catch(node: BoundNode, state: State, canFail: boolean): void {
    const edges = this.#graph.edges.filter(
      ({ source, onError }) =>
        onError && source.kind === "nodes" && source.nodes.some(({ name }) => name === node.name),
    );
    const [edge, second] = edges;
    if (edge === undefined) return;
    if (!canFail)
      this.#refuse(
        edge.span,
        `an error of the expression \`${node.name}\` cannot be caught in a state machine`,
        "compute it in a function",
      );
    const next =
      second === undefined && edge.to.kind === "plain"
        ? this.#goto(targetsOf(edge), edge.span)
        : this.#decideError(node.name, edges);
    state["Catch"] = [{ ErrorEquals: ["States.ALL"], Next: next }];
  }

  /** A Catch takes every error; the state behind it decides by conditions, and fails with the error if none holds. */
  #decideError(node: string, edges: readonly BoundEdge[]): string {
    const rules = edges.flatMap(({ to, span }) => (to.kind === "when" ? [{ ...to, span }] : []));
    const rest = edges.filter(({ to }) => to.kind === "otherwise");
    if (rules.length + rest.length < edges.length || !areExclusive(rules.map(({ condition }) => condition.expression)))
      this.#refuse(
        edges[1]?.span ?? edges[0]!.span,
        "several error edges can apply at once, and a state has one next state",
        "let each condition exclude those before it: `on error when b && !(a)`",
      );
    const name = this.#fresh(`${node} caught`);
    const fails = this.#fresh(`${node} fails`);
    this.#states.set(name, {
      Type: "Choice",
      Choices: rules.map(({ condition, targets, span }) => ({
        Condition: inPercent(this.#text(condition)),
        Next: this.#goto(targets, span),
      })),
      Default: rest[0] === undefined ? fails : this.#goto(targetsOf(rest[0]), rest[0].span),
    });
    if (rest.length === 0) {
      const error = this.#errorVariable();
      this.#states.set(fails, {
        Type: "Fail",
        Error: inPercent(`$${error}.Error`),
        Cause: inPercent(`$${error}.Cause`),
      });
    }
    return name;
  }

  #policies({ name, declaration }: BoundNode): void {
    for (const { kind, span } of declaration.policies) {
      switch (kind) {
        case "Waits":
        case "Goes":
        case "Undo":
        case "Pause":
        case "Within":
          this.#refuse(
            span,
            `\`${textOf(this.#graph, span)}\` of \`${name}\` has no form in a state machine`,
            kind === "Pause" || kind === "Within" ? "wait in a task with a task token" : "say it with edges and nodes",
          );
          break;
        case "Cache":
          this.#lose(span, "a state machine has no cache", "cache the result in the function");
          break;
        default:
      }
    }
  }
}

/** Each field of a record by itself, which is easier to read; `undefined` for other expressions. @throws NoJsonata */
function fieldsOf(expression: Expression, scope: JsonataScope): State | undefined {
  if (expression.op !== "record" || expression.fields.some((field) => "spread" in field)) return undefined;
  return Object.fromEntries(
    expression.fields.flatMap((field) => ("spread" in field ? [] : [[field.name, jsonataValue(field.value, scope)]])),
  );
}

function targetsOf({ to }: BoundEdge): readonly BoundReference[] {
  return to.kind === "match" || to.kind === "cases" ? [] : to.targets;
}
