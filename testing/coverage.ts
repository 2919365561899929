/** Which nodes, edges, arms and error routes of a graph the runs of its tests have taken. */
import { compileExpression, type Evaluate, type Scope } from "../runtime/expression/compile-expression.ts";
import { expressionParts } from "../runtime/expression/expression-depth.ts";
import type { Expression } from "../runtime/expression/expression.ts";
import { printExpression } from "../runtime/expression/print-expression.ts";
import type { Checkpoint } from "../runtime/interface/checkpoint.ts";
import type { RunEvent } from "../runtime/interface/events.ts";
import { routeBranches, type RouteBranch } from "../runtime/table/route-branches.ts";
import {
  barrierTargets,
  END,
  ROLLBACK,
  type ErrorRouteSpec,
  type RouteSpec,
  type Table,
  type TargetSpec,
} from "../runtime/table/table.ts";
import type { Json } from "../runtime/value/json.ts";

/** A part of a graph, and how often the tests have taken it. */
export interface CoveredPart {
  /** `edge`: it has no condition. `arm`: an edge with a condition, an arm of a `match`, or the `else` of either. */
  readonly kind: "node" | "edge" | "arm" | "error";
  /** The name of a node; `draft -> note when score < 0.8`. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly count: number;
}

/** The coverage of one graph. Parts have the order of the graph. */
export interface Coverage {
  readonly graph: string;
  readonly file: string;
  readonly parts: readonly CoveredPart[];
}

/** What one run has shown. */
export interface ObservedRun {
  readonly events: readonly RunEvent[];
  /** Checkpoints of the graph itself, in any order. */
  readonly checkpoints: readonly Checkpoint[];
}

interface Part {
  readonly kind: CoveredPart["kind"];
  readonly text: string;
  readonly place: { readonly line: number; readonly column: number };
  count: number;
}

interface Branch {
  readonly part: Part;
  readonly targets: ReadonlySet<string>;
}

/** The branches of a node's routes, or of `start`. */
interface Source {
  readonly routes: readonly { readonly route: RouteSpec; readonly branches: readonly Branch[] }[];
  readonly errors: readonly { readonly route: ErrorRouteSpec; readonly branch: Branch }[];
}

/** Counts the parts of a graph that runs take. */
export class CoverageCounter {
  readonly #table: Table;
  readonly #parts: Part[] = [];
  readonly #nodes = new Map<string, Part>();
  readonly #sources = new Map<string, Source>();
  readonly #conditions = new Map<number, Evaluate | undefined>();

  constructor(table: Table) {
    this.#table = table;
    const head = { line: 1, column: 1 };
    const first = table.debug?.nodes[0] ?? head;
    this.#sources.set("start", this.#sourceOf("start", table.start, [], first));
    if (table.finally !== undefined) this.#sources.set("finally", this.#sourceOf("finally", table.finally, [], first));
    for (const [index, { name, routes, onError }] of table.nodes.entries()) {
      const place = table.debug?.nodes[index] ?? head;
      const node: Part = { kind: "node", text: name, place, count: 0 };
      this.#parts.push(node);
      this.#nodes.set(name, node);
      this.#sources.set(name, this.#sourceOf(name, routes, onError, place));
    }
  }

  add({ events, checkpoints }: ObservedRun): void {
    const after = new Map<number, Checkpoint>();
    for (const checkpoint of checkpoints) {
      if (checkpoint.phase !== "interrupted" && checkpoint.phase !== "before") after.set(checkpoint.step, checkpoint);
    }
    this.#addEntry("start", events, after.get(-1));
    if (events.some(({ type }) => type === "finally")) this.#addEntry("finally", events, undefined);
    // A task that has waited starts again.
    const started = new Set<string>();
    for (const event of events) {
      const isFinally = event.namespace.length === 1 && event.namespace[0] === "finally";
      if (event.namespace.length > 0 && !isFinally) continue;
      if (event.type === "node" && event.phase === "start" && event.attempt === 1) {
        const node = this.#nodes.get(event.node);
        const task = `${event.step} ${event.taskId}`;
        if (node === undefined || started.has(task)) continue;
        started.add(task);
        node.count++;
      } else if (event.type === "route" && event.discarded !== true) {
        this.#addRoute(event.node, event.via, event.targets, isFinally ? undefined : after.get(event.step));
      }
    }
  }

  result(): Coverage {
    return {
      graph: this.#table.name,
      file: this.#table.debug?.file ?? "",
      parts: this.#parts.map(({ kind, text, place: { line, column }, count }) => ({ kind, text, line, column, count })),
    };
  }

  /** The engine has no event for the edges of `start` and `finally`: the nodes of the first step follow them. */
  #addEntry(entry: "start" | "finally", events: readonly RunEvent[], checkpoint: Checkpoint | undefined): void {
    const first = events.find(
      (event): event is RunEvent & { readonly type: "step" } =>
        event.type === "step" &&
        event.phase === "start" &&
        (entry === "start" ? event.namespace.length === 0 : event.namespace[0] === "finally"),
    );
    if (first !== undefined) this.#addRoute(entry, "edges", first.nodes, checkpoint);
  }

  #addRoute(node: string, via: string, names: readonly string[], checkpoint: Checkpoint | undefined): void {
    const source = this.#sources.get(node);
    if (source === undefined) return;
    const targets = new Set(names);
    const isTaken = (branch: Branch): boolean => [...branch.targets].every((target) => targets.has(target));
    const state = this.#table.channels.map(({ name }) => checkpoint?.values[name] ?? null);
    if (via === "edges") {
      const all = source.routes.flatMap(({ branches }) => branches);
      // The targets tell branches apart unless two have the same ones: then the conditions decide.
      const taken = checkpoint === undefined ? undefined : this.#takenBranches(source, { state }, targets);
      for (const branch of taken ?? all.filter(isTaken)) branch.part.count++;
    } else if (via === "error") {
      const candidates = source.errors.filter(({ branch }) => isTaken(branch));
      const error = checkpoint?.errors[names[0] ?? ""];
      const holding = candidates.filter(({ route }) => {
        if (typeof route.condition !== "number" || candidates.length === 1 || error === undefined) return true;
        return this.#evaluate(route.condition, { state, error }) !== false;
      });
      const isConditional = holding.some(({ route }) => typeof route.condition === "number");
      for (const { route, branch } of holding) {
        if (route.condition !== "otherwise" || !isConditional) branch.part.count++;
      }
    }
  }

  /** The branches whose conditions hold; `undefined` if a condition has no value here or they do not explain the targets. */
  #takenBranches({ routes }: Source, scope: Scope, targets: ReadonlySet<string>): Branch[] | undefined {
    const taken: Branch[] = [];
    let someHolds = false;
    const otherwise: Branch[] = [];
    for (const { route, branches } of routes) {
      const [first] = branches;
      if (route.kind === "plain" && first !== undefined) taken.push(first);
      else if (route.kind === "otherwise" && first !== undefined) otherwise.push(first);
      else if (route.kind === "when" && first !== undefined) {
        const value = this.#evaluate(route.condition, scope);
        if (value === undefined) return undefined;
        if (value !== true) continue;
        someHolds = true;
        taken.push(first);
      } else {
        for (const [index, branch] of routeBranches(route).entries()) {
          const value = this.#evaluate(branch.expression, scope);
          if (value === undefined && branch.expression !== undefined) return undefined;
          const holds = branch.kind === "values" ? branch.values?.some((each) => each === value) : value === true;
          const found = branches[index];
          if ((holds === true || branch.kind === "otherwise") && found !== undefined) {
            taken.push(found);
            break;
          }
        }
      }
    }
    if (!someHolds) taken.push(...otherwise);
    const explained = new Set(taken.flatMap((branch) => [...branch.targets]));
    return explained.size === targets.size && [...targets].every((name) => explained.has(name)) ? taken : undefined;
  }

  /** `undefined` for a condition that calls imported functions, and for one that fails. */
  #evaluate(index: number | undefined, scope: Scope): Json | undefined {
    if (index === undefined) return undefined;
    if (!this.#conditions.has(index)) {
      const expression = this.#table.expressions[index];
      const isPure =
        expression !== undefined && !partsOf(expression).some(({ op }) => op === "call" || op === "secret");
      this.#conditions.set(index, isPure ? compileExpression(expression) : undefined);
    }
    try {
      return this.#conditions.get(index)?.(scope);
    } catch {
      return undefined;
    }
  }

  #sourceOf(
    from: string,
    routes: readonly RouteSpec[],
    errors: readonly ErrorRouteSpec[],
    place: { readonly line: number; readonly column: number },
  ): Source {
    const branchOf = (
      kind: Part["kind"],
      label: string,
      targets: readonly TargetSpec[],
      expression: number | undefined,
    ): Branch => {
      const shown = targets.map((target) => this.#shown(target)).join(", ");
      const debug = expression === undefined ? undefined : this.#table.debug?.expressions[expression];
      const at = debug === undefined || debug.shared === true ? place : { line: debug.line, column: debug.column };
      const part: Part = { kind, text: `${from} -> ${shown}${label}`, place: at, count: 0 };
      this.#parts.push(part);
      return { part, targets: new Set(targets.flatMap((target) => this.#namesOf(target))) };
    };
    return {
      routes: routes.map((route) => {
        const branches = routeBranches(route);
        const shared = branches.find(({ expression }) => expression !== undefined)?.expression;
        return {
          route,
          branches: branches.map((branch) =>
            branchOf(
              branch.kind === "always" ? "edge" : "arm",
              this.#labelOf(route, branch),
              branch.targets,
              branch.expression ?? shared,
            ),
          ),
        };
      }),
      errors: errors.map((route) => {
        const { condition, targets } = route;
        const label =
          typeof condition === "number"
            ? ` when ${this.#textOf(condition)}`
            : condition === "otherwise"
              ? " otherwise"
              : "";
        const expression = typeof condition === "number" ? condition : undefined;
        return { route, branch: branchOf("error", ` on error${label}`, targets, expression) };
      }),
    };
  }

  #labelOf(route: RouteSpec, { kind, expression, values = [] }: RouteBranch): string {
    if (kind === "always") return "";
    if (kind === "otherwise" || expression === undefined) return route.kind === "otherwise" ? " otherwise" : " else";
    const text = this.#textOf(expression);
    if (kind === "condition") return ` when ${text}`;
    return ` when ${text} is ${values.map((value) => JSON.stringify(value)).join(" | ")}`;
  }

  #textOf(expression: number): string {
    const { expressions, channels, functions } = this.#table;
    const found = expressions[expression];
    if (found === undefined) return "";
    return printExpression(found, {
      channels: channels.map(({ name }) => name),
      functions: functions.map(({ name }) => name),
    });
  }

  #nameOf(node: number): string {
    if (node === ROLLBACK) return "rollback";
    return node === END ? "end" : (this.#table.nodes[node]?.name ?? "end");
  }

  /** The names of a target in events: a barrier has those of its own targets. */
  #namesOf(target: TargetSpec): string[] {
    if ("node" in target) return [this.#nameOf(target.node)];
    const barrier = this.#table.barriers[target.barrier];
    return barrier === undefined ? [] : barrierTargets(barrier).map((node) => this.#nameOf(node));
  }

  #shown(target: TargetSpec): string {
    const names = this.#namesOf(target);
    return "node" in target ? names.join(", ") : `[${names.join(", ")}]`;
  }
}

function partsOf(expression: Expression): readonly Expression[] {
  const found: Expression[] = [expression];
  for (const part of found) for (const child of expressionParts(part)) found.push(child);
  return found;
}
