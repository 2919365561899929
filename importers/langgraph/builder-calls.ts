/** The calls of one builder of a program, as nodes and edges. */
import { ImportError } from "../imported.ts";
import { isTree, line, type Tree } from "../program-tree.ts";
import { END, START, type RoutesEdge, type StateEdge, type StateNode } from "../state-graph.ts";
import { readNode, type NodeReading } from "./nodes.ts";
import { nodeOfText, readRoutes } from "./routes.ts";
import { elements, functionName, keyOf, plain, property, resolve, textOf, withoutBind } from "./trees.ts";

type NamedNode = readonly [name: string, body: Tree | undefined, options: Tree | undefined];

/** Edges that share a large router would fill the memory. */
const MOST_ROUTES = 20_000;

/** The calls of one builder, as nodes and edges. */
export class BuilderCalls {
  readonly #reading: NodeReading;
  readonly nodes = new Map<string, StateNode>();
  readonly notes: string[] = [];
  readonly #plain: { readonly from: readonly string[]; readonly to: string }[] = [];
  readonly #routed: RoutesEdge[] = [];
  #routeCount = 0;
  readonly #before = new Set<string>();
  readonly #after = new Set<string>();

  constructor(reading: NodeReading) {
    this.#reading = reading;
  }

  /** The node that an expression names. @throws ImportError */
  end(tree: Tree): string {
    const found = textOf(tree, this.#reading.constants);
    if (found === undefined)
      throw new ImportError(
        line(tree),
        "the name of a node is a text, a constant, START or END",
        "write out the calls of a loop or a function",
      );
    return nodeOfText(found);
  }

  /** @throws ImportError */
  read(method: string, call: Tree): void {
    const [first, second, third] = call["arguments"] as readonly Tree[];
    if (method === "compile") return this.#readPauses(first);
    if (first === undefined) return;
    switch (method) {
      case "addNode":
        if (second === undefined)
          for (const [name, body, options] of this.#named(first)) this.#add(name, body, options);
        else this.#add(this.end(first), second, third);
        break;
      case "addSequence": {
        const items = this.#named(first);
        for (const [name, body, options] of items) this.#add(name, body, options);
        for (const [index, [name]] of items.slice(1).entries())
          this.#plain.push({ from: [items[index]![0]], to: name });
        break;
      }
      case "addEdge": {
        if (second === undefined) break;
        const from = plain(first)!;
        this.#plain.push({
          from: from.type === "ArrayExpression" ? elements(from).map((each) => this.end(each)) : [this.end(from)],
          to: this.end(second),
        });
        break;
      }
      case "setEntryPoint":
        this.#plain.push({ from: [START], to: this.end(first) });
        break;
      case "setFinishPoint":
        this.#plain.push({ from: [this.end(first)], to: END });
        break;
      case "setConditionalEntryPoint":
        this.#addRoutes(START, first, second);
        break;
      case "addConditionalEdges":
        this.#readConditional(first, second, third);
    }
  }

  #readConditional(first: Tree, router: Tree | undefined, map: Tree | undefined): void {
    // One object may have all of them.
    const source = property(first, "source");
    const path = property(first, "path");
    if (router !== undefined) this.#addRoutes(this.end(first), router, map);
    else if (source !== undefined && path !== undefined)
      this.#addRoutes(this.end(source), path, property(first, "pathMap"));
  }

  #addRoutes(from: string, router: Tree, map: Tree | undefined): void {
    const fn = withoutBind(router)!;
    const wish = functionName(isTree(fn["id"]) ? fn["id"] : fn) ?? `route_${from === START ? "start" : from}`;
    const condition = this.#reading.names.of("condition", wish, resolve(fn, this.#reading.declared));
    const edge = readRoutes(from, condition, router, map, this.#reading);
    this.#countRoutes(
      router,
      edge.routes.length,
      "give `addConditionalEdges` a map of the targets that the edge needs",
    );
    this.#routed.push(edge);
  }

  #countRoutes(at: Tree, added: number, help: string): void {
    this.#routeCount += added;
    if (this.#routeCount > MOST_ROUTES)
      throw new ImportError(line(at), `the routes of the graph are more than ${MOST_ROUTES}`, help);
  }

  /** The nodes of an object of functions, or of a list of pairs. */
  #named(argument: Tree): readonly NamedNode[] {
    const { declared, constants: known, changes } = this.#reading;
    const own = resolve(argument, declared)!;
    const unknown = (each: Tree): readonly never[] => {
      this.notes.push(changes.add(line(each), "the nodes that are spread here are not read"));
      return [];
    };
    if (own.type === "ArrayExpression")
      return elements(own).flatMap((each): readonly NamedNode[] => {
        const pair = resolve(each, declared)!;
        if (pair.type === "SpreadElement") return unknown(pair);
        const [name, body, options] = elements(pair);
        if (name === undefined) throw new ImportError(line(each), "expected a pair of a name and a function");
        return [[this.end(name), body, options]];
      });
    if (own.type !== "ObjectExpression")
      throw new ImportError(line(argument), "the nodes are not in this file", "write them as an object or a list");
    return (own["properties"] as readonly Tree[]).flatMap((each): readonly NamedNode[] => {
      if (each.type === "SpreadElement") return unknown(each);
      const name = keyOf(each, known);
      if (name === undefined) throw new ImportError(line(each), "the name of a node is a text or a constant");
      return [[name, each.type === "ObjectMethod" ? each : (each["value"] as Tree), undefined]];
    });
  }

  #add(name: string, body: Tree | undefined, options: Tree | undefined): void {
    if (this.nodes.has(name))
      throw new ImportError(body === undefined ? "line 1" : line(body), `the node \`${name}\` is added twice`);
    const node = readNode(name, body, options, this.#reading);
    if (body !== undefined)
      this.#countRoutes(body, node.goes?.length ?? 0, "give `addNode` the `ends` that the node needs");
    this.nodes.set(name, node);
  }

  #readPauses(options: Tree | undefined): void {
    const { declared, constants: known, changes } = this.#reading;
    const settings = resolve(options, declared);
    if (settings === undefined) return;
    for (const [field, pauses] of [
      ["interruptBefore", this.#before],
      ["interruptAfter", this.#after],
    ] as const) {
      const own = resolve(property(settings, field), declared);
      if (own === undefined || own.type === "NullLiteral" || own["name"] === "undefined") continue;
      const say = (at: Tree, message: string): void => void this.notes.push(changes.add(line(at), message));
      if (textOf(own, known) === "*") for (const name of this.nodes.keys()) pauses.add(name);
      else if (own.type !== "ArrayExpression") say(own, `\`${field}\` is no constant, and is left out`);
      for (const each of elements(own)) {
        const pause = textOf(each, known);
        if (pause === undefined) say(each, `a pause of \`${field}\` is no constant, and is left out`);
        else if (!this.nodes.has(pause)) say(each, `\`${pause}\` is not a node: the pause is left out`);
        else pauses.add(pause);
      }
    }
  }

  pausedNodes(): StateNode[] {
    return [...this.nodes.values()].map((node) => ({
      ...node,
      policies: [
        ...(node.policies ?? []),
        ...(this.#before.has(node.name) ? ["pause before"] : []),
        ...(this.#after.has(node.name) ? ["pause after"] : []),
      ],
    }));
  }

  /** @throws ImportError for an edge of a node that there is not */
  edges(at: string): readonly StateEdge[] {
    const check = (target: string): void => {
      if (target !== START && target !== END && !this.nodes.has(target))
        throw new ImportError(at, `\`${target}\` is not a node of the graph`);
    };
    const edges: StateEdge[] = [];
    // Each edge is there once, however often it is added.
    const fanOut = new Map<string, Set<string>>();
    for (const { from, to } of this.#plain) {
      for (const each of [...from, to]) check(each);
      if (from.length > 1) {
        edges.push({ kind: "plain", from, to: [to], join: "all" });
        continue;
      }
      const targets = fanOut.get(from[0]!) ?? new Set();
      targets.add(to);
      fanOut.set(from[0]!, targets);
    }
    for (const [from, targets] of fanOut) edges.push({ kind: "plain", from: [from], to: [...targets] });
    for (const edge of this.#routed) {
      check(edge.from);
      for (const route of edge.routes) for (const target of route.targets) check(target);
    }
    for (const { goes } of this.nodes.values()) for (const target of goes ?? []) check(target);
    return [...edges, ...this.#routed];
  }
}
