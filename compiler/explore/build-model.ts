/** Builds the model of a bound graph: the places, the routes of each node with their conditions, the data. */
import type { Span } from "../../diagnostics/source.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import {
  type BoundEdge,
  type BoundGraph,
  type BoundNode,
  type BoundReference,
  END_NAME,
  START,
} from "../bind/bound-graph.ts";
import { buildData } from "./data-model.ts";
import { definedFormula } from "./defined-formula.ts";
import { ALWAYS, formulaOf, formulaOfArm } from "./formula.ts";
import {
  type BarrierMember,
  type Branch,
  type ControlBarrier,
  type ControlModel,
  type ControlNode,
  END_TARGET,
  type JumpReading,
  type RouteGroup,
  type Routing,
  type Signal,
} from "./model.ts";
import {
  alwaysWaits,
  cannotFail,
  definedWhere,
  isForeignCall,
  mayHaveItems,
  waitsForPerson,
} from "./node-behaviour.ts";
import { replaceParts } from "./replace-parts.ts";
import { createTermTable, type TermTable, type TypeNames } from "./terms.ts";
import { ANYTHING, type ValueSet, valueSetOfType } from "./value-set.ts";

/** Builds the Petri net of a bound graph, in linear time. */
export function buildModel(graph: BoundGraph, jumps: JumpReading = "one"): ControlModel {
  const types = new Map(graph.types.map((item) => [item.name, item.type]));
  const resolve: TypeNames = (name) => types.get(name);
  const sent = jumps === "any" ? sentNodes(graph) : [];
  const data = buildData(graph, resolve, sent);
  const terms = createTermTable(
    graph.channels.map(({ name, type }, index) => ({ name, type, domain: data.channels[index]?.domain ?? ANYTHING })),
    graph.functions.map((spec) => spec.name),
    resolve,
  );
  const places = layOutPlaces(graph, sent);
  const drafts = new Map<string, RoutingDraft>();
  for (const edge of graph.edges) addEdge(graph, terms, places, drafts, edge);

  const nodeOf = (declared: number, index: number, isSent: boolean): ControlNode => {
    const node = graph.nodes[declared]!;
    const onError = drafts.get(errorKey(node.name));
    const targets = node.goes === undefined ? undefined : jumpTargets(node.goes, places);
    return {
      index,
      name: node.name,
      declared,
      isSent,
      routing: finish(drafts.get(node.name)),
      errorRouting: onError === undefined ? undefined : finish(onError),
      // A `for` without items does nothing, so it does not fail either.
      alwaysFails: node.call.kind === "builtin" && node.call.signature.name === "fail" && node.each === undefined,
      fails:
        isForeignCall(node) && mayHaveItems(graph, data, node)
          ? "freely"
          : cannotFail(terms, node)
            ? "never"
            : "perhaps",
      defined: definedWhere(terms, node),
      jumps: targets,
      sends: (targets ?? []).flatMap((target) => (target === END_TARGET ? [] : (places.sent.get(target) ?? []))),
      waits: places.waits.get(declared) ?? -1,
      pauses: waitsForPerson(node),
      alwaysPauses: !isSent && alwaysWaits(node, onError !== undefined),
    };
  };
  const nodes = [
    ...graph.nodes.map((_, index) => nodeOf(index, index, false)),
    ...sent.map((declared, at) => nodeOf(declared, graph.nodes.length + at, true)),
  ];
  return {
    name: graph.name,
    nodes,
    jumps,
    start: finish(drafts.get(START)),
    barriers: places.barriers,
    placeCount: places.barrierOfPlace.length,
    barrierOfPlace: Int32Array.from(places.barrierOfPlace),
    terms,
    data,
    unsupported: places.unsupported,
  };
}

/** Nodes to which another node can send tasks. */
function sentNodes(graph: BoundGraph): readonly number[] {
  const targets = new Set(graph.nodes.flatMap((node) => node.goes ?? []));
  return graph.nodes.flatMap((node, index) => (targets.has(node.name) ? [index] : []));
}

interface Places {
  readonly nodeIndex: ReadonlyMap<string, number>;
  readonly barriers: readonly ControlBarrier[];
  readonly barrierOfPlace: readonly number[];
  /** Node -> the `waits` barrier that gates it. */
  readonly waits: ReadonlyMap<number, number>;
  /** Barrier edge -> its barriers, one for each target. */
  readonly ofEdge: ReadonlyMap<BoundEdge, readonly ControlBarrier[]>;
  /** Declared node -> the model node for the tasks that are sent to it. */
  readonly sent: ReadonlyMap<number, number>;
  readonly unsupported: readonly string[];
}

function layOutPlaces(graph: BoundGraph, sentTo: readonly number[]): Places {
  const nodeIndex = new Map(graph.nodes.map((node, index) => [node.name, index]));
  const sent = new Map(sentTo.map((declared, at) => [declared, graph.nodes.length + at]));
  const barrierOfPlace: number[] = [...graph.nodes, ...sentTo].map(() => -1);
  const barriers: ControlBarrier[] = [];
  const waits = new Map<number, number>();
  const ofEdge = new Map<BoundEdge, ControlBarrier[]>();
  const perTarget = new Map<number, number>();
  const unsupported: string[] = [];
  const add = (
    kind: "all" | "waits",
    target: number,
    members: readonly (readonly number[])[],
    origin: ControlBarrier["origin"],
  ): ControlBarrier => {
    const count = (perTarget.get(target) ?? 0) + 1;
    perTarget.set(target, count);
    const index = barriers.length;
    const laidOut = members.map((nodes): BarrierMember => {
      barrierOfPlace.push(index);
      // Mutation point: barrier-members
      return { place: barrierOfPlace.length - 1, nodes: [...nodes, ...nodes.flatMap((node) => sent.get(node) ?? [])] };
    });
    const name = target === END_TARGET ? END_NAME : (graph.nodes[target]?.name ?? "");
    const id = count === 1 ? name : `${name}#${count}`;
    // Such a barrier signals the gate on behalf of its members, in an order that the model does not represent.
    if (kind === "all" && waits.has(target))
      unsupported.push(`a barrier into \`${name}\`, which has \`waits\` of its own`);
    const barrier = { index, id, kind, target, members: laidOut, origin };
    barriers.push(barrier);
    return barrier;
  };
  graph.nodes.forEach((node, index) => {
    if (node.waits === undefined) return;
    const members = node.waits.map((name) => nodeIndex.get(name)).filter((member) => member !== undefined);
    waits.set(
      index,
      add(
        "waits",
        index,
        members.map((member) => [member]),
        undefined,
      ).index,
    );
  });
  for (const edge of graph.edges) {
    if (edge.source.kind !== "all") continue;
    const members = edge.source.members.map((member) =>
      member.map((reference) => nodeIndex.get(reference.name)).filter((index) => index !== undefined),
    );
    const made: ControlBarrier[] = [];
    for (const target of edge.to.kind === "plain" ? edge.to.targets : []) {
      const index = target.name === END_NAME ? END_TARGET : nodeIndex.get(target.name);
      if (index !== undefined) made.push(add("all", index, members, { edge, target }));
    }
    ofEdge.set(edge, made);
  }
  return { nodeIndex, barriers, barrierOfPlace, waits, ofEdge, sent, unsupported };
}

interface RoutingDraft {
  readonly always: Signal[];
  readonly whens: Branch[];
  otherwise: Branch | undefined;
  readonly choices: RouteGroup[];
}

function finish(draft: RoutingDraft | undefined): Routing {
  if (draft === undefined) return { groups: [] };
  const groups: RouteGroup[] = [];
  if (draft.always.length > 0) groups.push({ kind: "always", signals: draft.always });
  if (draft.whens.length > 0 || draft.otherwise !== undefined) {
    groups.push({ kind: "several", branches: draft.whens, otherwise: draft.otherwise });
  }
  return { groups: [...groups, ...draft.choices] };
}

/** The key of a node's error edges. Node names contain no spaces, so it differs from every name. */
function errorKey(name: string): string {
  return `${name} on error`;
}

function draftOf(drafts: Map<string, RoutingDraft>, key: string): RoutingDraft {
  let draft = drafts.get(key);
  if (draft === undefined) {
    draft = { always: [], whens: [], otherwise: undefined, choices: [] };
    drafts.set(key, draft);
  }
  return draft;
}

function addEdge(
  graph: BoundGraph,
  terms: TermTable,
  places: Places,
  drafts: Map<string, RoutingDraft>,
  edge: BoundEdge,
): void {
  if (edge.source.kind === "all") {
    for (const barrier of places.ofEdge.get(edge) ?? []) {
      for (const member of barrier.members) {
        for (const node of member.nodes) {
          // The model node for sent tasks uses the edges of its declared node.
          if (node >= graph.nodes.length) continue;
          const draft = draftOf(drafts, graph.nodes[node]?.name ?? "");
          draft.always.push({ place: member.place, node: barrier.target, origin: barrier.origin });
        }
      }
    }
    return;
  }
  for (const source of edge.source.nodes) {
    const key = edge.onError ? errorKey(source.name) : source.name;
    const failed = edge.onError ? graph.nodes[places.nodeIndex.get(source.name) ?? -1] : undefined;
    const read = failed === undefined ? unchanged : (expression: Expression) => withKnownError(expression, failed);
    addRoute(graph, terms, draftOf(drafts, key), edge, read, (targets) =>
      targets.flatMap((target) => signalOf(places, source, edge, target)),
    );
  }
}

const unchanged = (expression: Expression): Expression => expression;

/** A condition of an error edge with the known parts of `error` replaced: the node, and the message of `fail("…")`. */
function withKnownError(expression: Expression, { name, call, each }: BoundNode): Expression {
  const known = new Map<string, Json>([["node", name]]);
  if (call.kind === "builtin" && call.signature.name === "fail" && each === undefined) {
    const message = call.args.find((argument) => argument.name === "message")?.value.expression;
    known.set("code", "NG_NODE_FAILED");
    known.set("attempts", 1);
    if (message?.op === "const" && typeof message.value === "string") known.set("message", message.value);
  }
  return replaceParts(expression, (part) => {
    const value = part.op === "member" && part.of.op === "error" ? known.get(part.name) : undefined;
    return value === undefined ? undefined : { op: "const", value };
  });
}

function addRoute(
  graph: BoundGraph,
  terms: TermTable,
  draft: RoutingDraft,
  edge: BoundEdge,
  read: (expression: Expression) => Expression,
  signals: (targets: readonly BoundReference[]) => Signal[],
): void {
  const { to } = edge;
  const text = (span: { start: number; end: number }): string => graph.file.text.slice(span.start, span.end);
  switch (to.kind) {
    case "plain":
      for (const each of signals(to.targets)) draft.always.push(each);
      return;
    case "when":
      draft.whens.push({
        ...conditionOf(terms, read(to.condition.expression)),
        signals: signals(to.targets),
        label: `when ${text(to.condition.span)}`,
        span: to.condition.span,
      });
      return;
    case "otherwise":
      // The binder reports a second `otherwise`. The signals of both are kept, so no target becomes unreachable.
      draft.otherwise = {
        formula: ALWAYS,
        signals: [...(draft.otherwise?.signals ?? []), ...signals(to.targets)],
        label: "otherwise",
        span: edge.span,
      };
      return;
    case "match": {
      const subject = read(to.subject.expression);
      const domain = subjectDomain(subject, to.subject.type, terms);
      const defined = definedFormula(terms, subject);
      const branches = to.arms.map((arm): Branch => ({
        formula: formulaOfArm(terms, subject, arm.values, domain),
        ...(defined === ALWAYS ? {} : { defined }),
        signals: signals(arm.targets),
        label: arm.values.map((value) => JSON.stringify(value)).join(" | "),
        span: arm.span,
      }));
      draft.choices.push({ kind: "one", branches: [...branches, ...elseBranch(to.otherwise, signals)] });
      return;
    }
    case "cases": {
      const branches = to.arms.map((arm): Branch => ({
        ...conditionOf(terms, read(arm.condition.expression)),
        signals: signals(arm.targets),
        label: text(arm.condition.span),
        span: arm.condition.span,
      }));
      draft.choices.push({ kind: "one", branches: [...branches, ...elseBranch(to.otherwise, signals)] });
      return;
    }
  }
}

function elseBranch(
  otherwise: { readonly span: Span; readonly targets: readonly BoundReference[] } | undefined,
  signals: (targets: readonly BoundReference[]) => Signal[],
): Branch[] {
  if (otherwise === undefined) return [];
  return [{ formula: ALWAYS, signals: signals(otherwise.targets), label: "else", span: otherwise.span }];
}

function conditionOf(terms: TermTable, expression: Expression): Pick<Branch, "formula" | "defined"> {
  const formula = formulaOf(terms, expression);
  const defined = definedFormula(terms, expression);
  return defined === ALWAYS ? { formula } : { formula, defined };
}

/**
 * The domain of a `match` subject by its bound type. A channel has its own domain, because it can be `null` initially.
 */
function subjectDomain(
  expression: Expression,
  type: Parameters<typeof valueSetOfType>[0],
  terms: TermTable,
): ValueSet | undefined {
  return expression.op === "channel" ? undefined : valueSetOfType(type, terms.resolve);
}

function signalOf(places: Places, source: BoundReference, edge: BoundEdge, target: BoundReference): Signal[] {
  if (target.name === END_NAME) return [endSignal(edge, target)];
  const node = places.nodeIndex.get(target.name);
  if (node === undefined) return [];
  const origin = { edge, target };
  const gate = places.waits.get(node);
  if (gate === undefined) return [{ place: node, node, origin }];
  const from = places.nodeIndex.get(source.name);
  const members = places.barriers[gate]?.members.filter((member) => from !== undefined && member.nodes.includes(from));
  // Mutation point: gate-signals
  if (members === undefined || members.length === 0) return [{ place: undefined, node, origin }];
  return members.map((member) => ({ place: member.place, node, origin }));
}

function endSignal(edge: BoundEdge, target: BoundReference): Signal {
  return { place: END_TARGET, node: END_TARGET, origin: { edge, target } };
}

function jumpTargets(names: readonly string[], places: Places): number[] {
  const targets = names.map((name) => (name === END_NAME ? END_TARGET : places.nodeIndex.get(name)));
  return targets.filter((target) => target !== undefined);
}
