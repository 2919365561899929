/**
 * Graphs as topologies of NeoGraph, schema version 1. A node of NeoGraph has a type, which is a function that the program registers,
 * and reads and writes the one state of the graph. Losses concern what surrounds the topology (types, time limits, computed
 * arguments). What would change which nodes run is refused.
 */
import type { Span } from "../../diagnostics/source.ts";
import { END_NAME, START, type BoundEdge, type BoundGraph, type BoundNode } from "../../compiler/bind/bound-graph.ts";
import { targetsOf } from "../../compiler/bind/edge-parts.ts";
import type { Json } from "../../runtime/value/json.ts";
import { constantOf } from "./constant.ts";
import { ExportError, Losses, type Exported } from "./losses.ts";
import { inputWriter, namesOfChannels, textOf, type InputWriter } from "./state-idiom.ts";

/** Called graphs nest at most so deep, as in the importer. */
const DEEPEST = 20;

/** Fields of a node that have a meaning of their own. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["type", "barrier", "definition", "input_map", "output_map"]);

type Fields = readonly (readonly [string, Json])[];

/** @throws ExportError */
export function exportNeoGraph(graph: BoundGraph): Exported {
  const losses = new Losses();
  const topology = new TopologyWriter(graph, losses, 0).topology();
  return { text: `${JSON.stringify(topology, null, 2)}\n`, losses: losses.list };
}

class TopologyWriter {
  readonly #graph: BoundGraph;
  readonly #losses: Losses;
  readonly #depth: number;
  readonly #writer: InputWriter | undefined;

  constructor(graph: BoundGraph, losses: Losses, depth: number) {
    this.#graph = graph;
    this.#losses = losses;
    this.#depth = depth;
    this.#writer = inputWriter(graph);
    if (depth > DEEPEST)
      this.#refuse(
        graph.declaration.name.span,
        `graphs call each other more than ${DEEPEST} levels deep`,
        "export the inner graph by itself",
      );
  }

  topology(): Json {
    const graph = this.#graph;
    this.#statements();
    const nodes = graph.nodes.filter((node) => node !== this.#writer?.node);
    const barriers = new Map<string, readonly string[]>();
    const { edges, conditional } = this.#edges(barriers);
    const retry = this.#retry(nodes);
    const before = nodes.filter(({ pauseBefore }) => pauseBefore).map(({ name }) => name);
    const after = nodes.filter(({ pauseAfter }) => pauseAfter).map(({ name }) => name);
    return Object.fromEntries<Json>([
      ["schema_version", 1],
      ["name", graph.name],
      ...(graph.doc === undefined ? [] : [["description", graph.doc] as const]),
      ["channels", this.#channels()],
      [
        "nodes",
        Object.fromEntries(
          nodes.map((node) => [node.name, Object.fromEntries(this.#node(node, barriers.get(node.name)))]),
        ),
      ],
      ["edges", edges],
      ...(conditional.length === 0 ? [] : [["conditional_edges", conditional] as const]),
      ...(before.length === 0 ? [] : [["interrupt_before", before] as const]),
      ...(after.length === 0 ? [] : [["interrupt_after", after] as const]),
      ...(retry === undefined ? [] : [["retry_policy", retry] as const]),
    ]);
  }

  #lose(span: Span, message: string, help: string): void {
    this.#losses.add({ file: this.#graph.file, span, message, help });
  }

  #refuse(span: Span, message: string, help: string): never {
    throw new ExportError({ file: this.#graph.file, span, message, help });
  }

  #statements(): void {
    for (const statement of this.#graph.declaration.statements) {
      if (statement.kind === "Limit")
        this.#lose(statement.span, "a topology has no limits", "pass the limit to the run in the program");
      if (statement.kind === "Assert")
        this.#lose(statement.span, "a topology has no assertions", "keep the `.ngraph` file, and check it with `ngc`");
    }
  }

  #channels(): Json {
    const graph = this.#graph;
    const channels = graph.channels.filter((channel) => channel !== this.#writer?.channel);
    const typed = channels.find(
      ({ type }) => !(type.kind === "json" || (type.kind === "list" && type.item.kind === "json")),
    );
    if (typed !== undefined)
      this.#lose(
        typed.declaration.type.span,
        "channels of a topology have no types",
        "keep the `.ngraph` file, which `ngc check` can type",
      );
    const plain = channels.find(({ reducer, role }) => reducer === undefined && role !== "input" && role !== "config");
    if (plain !== undefined)
      this.#lose(
        plain.declaration.name.span,
        "channels without a reducer are `overwrite`: a second writer in one step is no error there",
        "nothing, if `ngc check` reports no second writer",
      );
    return Object.fromEntries(
      channels.map(({ name, role, reducer, initial, declaration }) => {
        if (role === "memory")
          this.#lose(
            declaration.span,
            `\`${name}\` does not outlive a thread in NeoGraph`,
            "read and write it in the nodes",
          );
        if (role === "config")
          this.#lose(
            declaration.span,
            `the configuration \`${name}\` is a channel in NeoGraph`,
            "write it with the input of the run",
          );
        const kind = reducer === undefined ? "last" : reducer.kind;
        const named = reducer?.kind === "function" ? reducer.function.name.replace(/^reduce_(?=.)/, "") : kind;
        const known = kind === "last" ? "overwrite" : kind === "append" ? "append" : named;
        if (kind !== "last" && kind !== "append")
          this.#lose(
            declaration.reducer?.span ?? declaration.span,
            `NeoGraph has no reducer \`${known}\``,
            `register a reducer with the name \`${known}\` in the program`,
          );
        const isEmpty =
          initial === undefined ||
          initial === null ||
          (known === "append" && Array.isArray(initial) && initial.length === 0);
        return [
          name,
          Object.fromEntries<Json>([["reducer", known], ...(isEmpty ? [] : [["initial", initial] as const])]),
        ];
      }),
    );
  }

  #node(node: BoundNode, barrier: readonly string[] | undefined): Fields {
    this.#policies(node);
    const wait = barrier === undefined ? [] : [["barrier", { wait_for: barrier }] as const];
    const doc = node.doc === undefined ? [] : [["_comment", node.doc] as const];
    const { call, declaration } = node;
    switch (call.kind) {
      case "graph": {
        const definition = new TopologyWriter(call.graph, this.#losses, this.#depth + 1).topology();
        return [
          ["type", "subgraph"],
          ["definition", definition],
          ["input_map", this.#inputMap(node, call)],
          ["output_map", this.#outputMap(node)],
          ...wait,
          ...doc,
        ];
      }
      case "function":
        return [["type", call.function.name], ...this.#config(node, call.args), ...wait, ...doc];
      case "builtin": {
        const { name } = call.signature;
        this.#lose(
          declaration.call.span,
          `NeoGraph has no node type \`${name}\` with this meaning`,
          `register a node type with the name \`${name}\` in the program`,
        );
        return [["type", name], ...this.#namedConfig(node, call.args), ...wait, ...doc];
      }
      case "expression":
        this.#lose(
          declaration.call.span,
          `a node of NeoGraph is a function, and \`${node.name}\` is an expression`,
          `register a node type with the name \`${node.name}\` that computes it`,
        );
        return [["type", node.name], ...this.#outputField(node), ...wait, ...doc];
      default:
        return this.#refuse(
          declaration.call.span,
          "a topology cannot call a plan",
          "move the call into an imported function",
        );
    }
  }

  /** Constant records are the configuration; channels need no argument, because a node reads the whole state. */
  #config(node: BoundNode, args: Extract<BoundNode["call"], { readonly kind: "function" }>["args"]): Fields {
    const config: (readonly [string, Json])[] = [];
    for (const { expression, span } of args) {
      const value = constantOf(expression);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        for (const [field, each] of Object.entries(value)) config.push(this.#configField(field, each, span));
      } else if (namesOfChannels(expression, this.#graph) === undefined) this.#loseArgument(span);
    }
    return [...this.#outputField(node, config), ...config];
  }

  #namedConfig(node: BoundNode, args: Extract<BoundNode["call"], { readonly kind: "builtin" }>["args"]): Fields {
    const config: (readonly [string, Json])[] = [];
    for (const { name, value } of args) {
      const constant = constantOf(value.expression);
      if (constant !== undefined) config.push(this.#configField(name, constant, value.span));
      else this.#loseArgument(value.span);
    }
    return [...this.#outputField(node, config), ...config];
  }

  #configField(field: string, value: Json, span: Span): readonly [string, Json] {
    if (OWN_FIELDS.has(field) || field.startsWith("_") || field.startsWith("x-"))
      this.#refuse(
        span,
        `\`${field}\` has a meaning of its own in a node of NeoGraph`,
        "give the field of the configuration another name",
      );
    return [field, value];
  }

  #loseArgument(span: Span): void {
    this.#lose(
      span,
      `the argument \`${textOf(this.#graph, span)}\` is left out: a node of NeoGraph reads the whole state`,
      "let the function compute it",
    );
  }

  /** `output_channel` for a result that is the value of one channel. */
  #outputField({ output, declaration }: BoundNode, config: Fields = []): Fields {
    if (output === undefined) return [];
    const span = declaration.output?.span ?? declaration.span;
    if (output.kind === "channel") {
      if (output.set === true) this.#loseSet(span);
      return config.some(([field]) => field === "output_channel") ? [] : [["output_channel", output.channel]];
    }
    for (const { field, channel, set } of output.fields) {
      if (set === true) this.#loseSet(span);
      if (field !== channel)
        this.#lose(
          span,
          `a node of NeoGraph writes channels by their names, and \`${field}\` is written to \`${channel}\``,
          `let the function return \`${channel}\``,
        );
    }
    return [];
  }

  #loseSet(span: Span): void {
    this.#lose(
      span,
      "`set` has no form in a topology: the reducer of the channel applies",
      "use a reducer that accepts a replacement",
    );
  }

  #inputMap(node: BoundNode, call: Extract<BoundNode["call"], { readonly kind: "graph" }>): Json {
    const writer = inputWriter(call.graph);
    const pairs = new Map<string, string>();
    const add = (inner: string, outer: string | undefined, span: Span): void => {
      if (outer === undefined)
        this.#refuse(
          span,
          `the input \`${inner}\` of \`${node.name}\` is computed, and a topology passes channels`,
          "compute it in a node before, and pass its channel",
        );
      if (pairs.has(outer))
        this.#refuse(
          span,
          `a topology passes \`${outer}\` to one input of \`${node.name}\` only`,
          "copy it to another channel before",
        );
      pairs.set(outer, inner);
    };
    for (const { name, value } of call.args) {
      const { expression, span } = value;
      if (name !== writer?.channel.name) {
        add(name, namesOfChannels(expression, this.#graph, true)?.[0], span);
        continue;
      }
      if (expression.op !== "record")
        this.#refuse(span, "the input of a graph that is called is a record of channels", "write it as `{ a, b }`");
      for (const field of expression.fields) {
        if ("spread" in field)
          this.#refuse(span, "a topology names each channel that it passes", "write it without `...`");
        add(field.name, namesOfChannels(field.value, this.#graph, true)?.[0], span);
      }
    }
    return Object.fromEntries(pairs);
  }

  #outputMap({ name, output, declaration }: BoundNode): Json {
    if (output === undefined) return {};
    if (output.kind === "channel")
      this.#refuse(
        declaration.output?.span ?? declaration.span,
        `the outputs of \`${name}\` are one record, and a topology has a channel for each`,
        "name them: `into { reply }`",
      );
    return Object.fromEntries(output.fields.map(({ field, channel }) => [field, channel]));
  }

  #policies(node: BoundNode): void {
    const { declaration, name } = node;
    if (node.each !== undefined)
      this.#refuse(
        declaration.each?.span ?? declaration.span,
        `\`${name}\` runs once for each item, and a topology has a fixed number of nodes`,
        "loop in the function of the node",
      );
    for (const { kind, span } of declaration.policies) {
      switch (kind) {
        case "Waits":
        case "Goes":
        case "Undo":
          this.#refuse(
            span,
            `\`${kind.toLowerCase()}\` of \`${name}\` has no form in a topology`,
            kind === "Waits"
              ? "say the order with edges"
              : kind === "Goes"
                ? "say the jumps with `match`"
                : "undo the result with a node",
          );
          break;
        case "Timeout":
        case "Within":
        case "Cache":
        case "MaxParallel":
          this.#lose(
            span,
            `the policy \`${textOf(this.#graph, span)}\` of \`${name}\` has no form in a topology`,
            "let the function of the node do it",
          );
          break;
        default:
      }
    }
  }

  /** A topology has one retry policy for all of its nodes. */
  #retry(nodes: readonly BoundNode[]): Json | undefined {
    // `defaults` concerns calls of functions only.
    const calls = nodes.filter(({ call }) => call.kind === "function" || call.kind === "builtin");
    const first = calls[0]?.tries;
    const key = (node: BoundNode): string => JSON.stringify(node.tries ?? null);
    if (first !== undefined && calls.every((node) => key(node) === key(calls[0]!))) {
      if (first.attempts <= 1) return undefined;
      for (const { name, call, tries, declaration } of nodes) {
        if (call.kind === "graph" && tries?.attempts !== first.attempts)
          this.#lose(
            declaration.name.span,
            `a retry policy is of all nodes: \`${name}\` is tried ${first.attempts} times, too`,
            "nothing, if the graph can be called again",
          );
      }
      return {
        max_retries: first.attempts - 1,
        initial_delay_ms: first.backoff?.min ?? 1,
        max_delay_ms: first.backoff?.max ?? 1,
        backoff_multiplier: 2,
      };
    }
    for (const { name, tries, declaration } of nodes) {
      if (tries === undefined) continue;
      const span = declaration.policies.find(({ kind }) => kind === "Tries")?.span ?? declaration.name.span;
      this.#lose(
        span,
        `a topology has one retry policy for all nodes: \`${name}\` is tried once`,
        "give all nodes the same `tries`, with `defaults { tries … }`",
      );
    }
    return undefined;
  }

  #edges(barriers: Map<string, readonly string[]>): { readonly edges: Json[]; readonly conditional: Json[] } {
    const graph = this.#graph;
    const writer = this.#writer?.node.name;
    const plain = new Map<string, Json>();
    const conditional: Json[] = [];
    const guarded = new Map<string, BoundEdge[]>();
    const conditions = new Map<string, number>();
    const add = (from: string, to: string): void =>
      void plain.set(JSON.stringify([from, to]), { from: endName(from), to: endName(to) });
    for (const edge of graph.edges) {
      if (edge.onError)
        this.#refuse(
          edge.span,
          "`on error` has no form in a topology",
          "catch the error in the function, and write it to a channel",
        );
      for (const { name, span } of targetsOf(edge)) {
        if (name === "rollback")
          this.#refuse(span, "`rollback` has no form in a topology", "undo the results with nodes");
      }
      if (edge.source.kind !== "nodes") {
        this.#barrier(edge, barriers, add);
        continue;
      }
      for (const { name, span } of edge.source.nodes) {
        if (name === "finally")
          this.#refuse(span, "`finally` has no form in a topology", "clean up in the program that runs the graph");
        // The run starts behind the node that writes the input.
        if (name === START && this.#writer !== undefined) continue;
        const from = name === writer ? START : name;
        switch (edge.to.kind) {
          case "plain":
            for (const target of edge.to.targets) add(from, target.name);
            break;
          case "when":
          case "otherwise":
            guarded.set(from, [...(guarded.get(from) ?? []), edge]);
            break;
          default:
            conditional.push(this.#match(from, edge, edge.to, conditions));
        }
      }
    }
    for (const [from, edges] of guarded) conditional.push(...this.#guards(from, edges, conditions));
    for (const [target, members] of barriers) {
      const loose = graph.edges.find(
        ({ source, to }) =>
          source.kind === "nodes" &&
          source.nodes.some(({ name }) => members.includes(name)) &&
          to.kind === "plain" &&
          to.targets.some(({ name }) => name === target),
      );
      if (loose !== undefined)
        this.#refuse(
          loose.span,
          `an edge of a member of the barrier of \`${target}\` is a part of the barrier in a topology`,
          "remove this edge, or the barrier",
        );
    }
    return { edges: [...plain.values()], conditional };
  }

  #barrier(
    { source, to, span }: BoundEdge,
    barriers: Map<string, readonly string[]>,
    add: (from: string, to: string) => void,
  ): void {
    if (source.kind === "nodes") return;
    if (source.kind === "settled")
      this.#refuse(
        source.span,
        "`settled` has no form in a topology: its barriers wait for all",
        "use `all`, and let each branch reach the barrier",
      );
    if (to.kind !== "plain")
      this.#refuse(span, "a condition behind a barrier has no form in a topology", "add a node between them");
    const members = source.members.map((group) => {
      if (group.length > 1)
        this.#refuse(
          source.span,
          "a member of a barrier in a topology is one node",
          "add a node behind the nodes of `any`, and name it in `all`",
        );
      return group[0]!.name;
    });
    for (const { name, span: at } of to.targets) {
      if (name !== END_NAME && members.length > 1) {
        if (barriers.has(name))
          this.#refuse(
            at,
            `a node of a topology has one barrier, and \`${name}\` has two`,
            "add a node behind each barrier",
          );
        barriers.set(name, members);
      }
      if (name === END_NAME && members.length > 1)
        this.#lose(
          at,
          "the end of a topology has no barrier: a branch that never arrives is not reported",
          "add a node between the barrier and `end`",
        );
      for (const member of members) add(member, name);
    }
  }

  #match(
    from: string,
    edge: BoundEdge,
    to: Extract<BoundEdge["to"], { readonly kind: "match" | "cases" }>,
    conditions: Map<string, number>,
  ): Json {
    const routes = new Map<string, string>();
    const remarks: string[] = [];
    const route = (key: string, targets: readonly { readonly name: string; readonly span: Span }[]): void => {
      if (targets.length > 1)
        this.#refuse(
          targets[1]!.span,
          "a route of a topology leads to one node",
          "lead it to a node, and that node to the others",
        );
      if (routes.has(key) || (key === "default" && to.otherwise?.targets !== targets))
        this.#refuse(targets[0]!.span, `the key \`${key}\` of a route is taken`, "use other values");
      routes.set(key, endName(targets[0]!.name));
    };
    let condition: string | undefined;
    if (to.kind === "match") {
      for (const arm of to.arms) for (const value of arm.values) route(String(value), arm.targets);
      const { expression, span } = to.subject;
      if (expression.op === "call") {
        condition = this.#graph.functions[expression.function]?.name;
        for (const arg of expression.args)
          if (namesOfChannels(arg, this.#graph) === undefined && constantOf(arg) === undefined)
            this.#loseArgument(span);
      } else if (expression.op === "channel" && this.#graph.channels[expression.channel]?.name === "__route__") {
        condition = "route_channel";
        // Another value is an error in NeoGraph.
        if (to.otherwise === undefined) routes.set("default", endName(END_NAME));
      } else remarks.push(textOf(this.#graph, span));
    } else {
      for (const [index, arm] of to.arms.entries()) {
        route(`case_${index + 1}`, arm.targets);
        remarks.push(`case_${index + 1}: ${textOf(this.#graph, arm.condition.span)}`);
      }
    }
    if (to.otherwise !== undefined) route("default", to.otherwise.targets);
    return this.#conditional(from, edge, condition, routes, remarks, conditions);
  }

  #guards(from: string, edges: readonly BoundEdge[], conditions: Map<string, number>): Json[] {
    const otherwise = edges.filter(({ to }) => to.kind === "otherwise");
    const whens = edges.filter(({ to }) => to.kind === "when");
    if (otherwise.length > 1 || (otherwise.length === 1 && whens.length !== 1))
      this.#refuse(
        otherwise.at(-1)!.span,
        `\`otherwise\` beside several conditions of \`${from}\` has no form in a topology`,
        "write them as one `match { … }`",
      );
    return whens.map((edge) => {
      const { to } = edge;
      if (to.kind !== "when") throw new TypeError("the edge has a condition");
      const other = otherwise[0]?.to;
      const targets = [to.targets, ...(other?.kind === "otherwise" ? [other.targets] : [])];
      const wide = targets.find(({ length }) => length > 1);
      if (wide !== undefined)
        this.#refuse(
          wide[1]!.span,
          "a route of a topology leads to one node",
          "lead it to a node, and that node to the others",
        );
      const routes = new Map([
        ["true", endName(to.targets[0]!.name)],
        ["default", endName(targets[1]?.[0]?.name ?? END_NAME)],
      ]);
      return this.#conditional(
        from,
        edge,
        undefined,
        routes,
        [`true: ${textOf(this.#graph, to.condition.span)}`],
        conditions,
      );
    });
  }

  #conditional(
    from: string,
    edge: BoundEdge,
    known: string | undefined,
    routes: ReadonlyMap<string, string>,
    remarks: readonly string[],
    conditions: Map<string, number>,
  ): Json {
    let condition = known;
    if (condition === undefined) {
      const count = (conditions.get(from) ?? 0) + 1;
      conditions.set(from, count);
      const taken = new Set(this.#graph.functions.map(({ name }) => name));
      condition = `${from}_route${count === 1 ? "" : `_${count}`}`;
      while (taken.has(condition)) condition += "_";
      this.#lose(
        edge.span,
        `a condition of a topology is a function: \`${condition}\` returns ${[...routes.keys()].map((key) => JSON.stringify(key)).join(" or ")}`,
        `register a condition with the name \`${condition}\` in the program`,
      );
    }
    return Object.fromEntries<Json>([
      ["from", endName(from)],
      ["condition", condition],
      ["routes", Object.fromEntries(routes)],
      ...(remarks.length === 0 ? [] : [["_comment", [...remarks]] as const]),
    ]);
  }
}

function endName(name: string): string {
  return name === START ? "__start__" : name === END_NAME ? "__end__" : name;
}
