/** The edges between the nodes of states. */
import { ImportError } from "../imported.ts";
import type { Machine, State } from "./machine.ts";
import { atom } from "./said.ts";
import { outputOf, variablesOf, writeData } from "./state-data.ts";
import { scopeOf } from "./state-values.ts";

/** Which states an edge can lead to, and by which nodes these begin. */
export class StateEdges {
  readonly machine: Machine;
  /** How often a state is the target of plain edges, and of others. */
  readonly #plain = new Map<State, number>();
  readonly #other = new Set<State>();
  /** The first nodes of a state with several: the branches of a Parallel. */
  readonly #entries = new Map<State, string>();
  /** The arms of each Choice. */
  readonly #rules = new Map<State, readonly string[]>();
  readonly #branches = new Map<State, readonly string[]>();

  constructor(machine: Machine, start: State) {
    this.machine = machine;
    const count = (target: State): void => void this.#plain.set(target, (this.#plain.get(target) ?? 0) + 1);
    count(start);
    for (const state of machine.states.values()) {
      const { source } = state;
      if (source.field("Next").isPresent) count(machine.state(source.field("Next")));
      const others = [
        source.field("Default"),
        ...[...source.field("Choices").items(), ...source.field("Catch").items()].map((each) => each.field("Next")),
      ];
      for (const other of others) if (other.isPresent) this.#other.add(machine.state(other));
      if (state.type === "Parallel") this.#entries.set(state, this.branchNodes(state).join(", "));
    }
  }

  /** The arms of a Choice, which are known before an edge leads to it. */
  setArms(choice: State, arms: readonly string[]): void {
    this.#rules.set(choice, arms);
  }

  /** An edge from a node to a state. A Choice with one plain edge to it is the `match` of this edge. */
  lead(from: string, target: State): void {
    if (this.isInline(target)) this.match(from, target);
    else this.machine.edge(`${from} -> ${this.target(target)}`);
  }

  /** A Choice without a node of its own. */
  isInline(state: State): boolean {
    return state.type === "Choice" && this.#plain.get(state) === 1 && !this.#other.has(state);
  }

  /** The edge from a node through the rules of a Choice. */
  match(from: string, choice: State): void {
    this.machine.edge(
      `${from} -> match {\n${this.#rules
        .get(choice)!
        .map((arm) => `    ${arm}`)
        .join("\n")}\n  }`,
    );
  }

  /** The nodes with which a state begins. */
  target(state: State): string {
    if (isPlainEnd(state)) return "end";
    return this.#entries.get(state) ?? state.node;
  }

  /** The edge behind the last node of a state. */
  next({ source, name }: State, from: string): void {
    const next = source.field("Next");
    if (source.field("End").value === true) {
      if (next.isPresent) throw new ImportError(next.at, `the state \`${name}\` has both \`Next\` and \`End\``);
      this.machine.edge(`${from} -> end`);
      return;
    }
    if (!next.isPresent) throw new ImportError(source.at, `the state \`${name}\` has neither \`Next\` nor \`End\``);
    this.lead(from, this.machine.state(next));
  }

  /** The first nodes of the branches of a Parallel. */
  branchNodes(state: State): readonly string[] {
    const known = this.#branches.get(state);
    if (known !== undefined) return known;
    const branches = state.source.field("Branches").items();
    if (branches.length === 0) throw state.source.field("Branches").wrong("branches");
    const made =
      branches.length === 1
        ? [state.node]
        : branches.map((_, index) => this.machine.local.fresh(`${state.node}_${index + 1}`));
    this.#branches.set(state, made);
    return made;
  }
}

/** A Succeed that changes nothing. */
export function isPlainEnd({ type, source }: State): boolean {
  return type === "Succeed" && !["InputPath", "OutputPath", "Output"].some((field) => source.field(field).isPresent);
}

/** A node behind the work of a state, if its result is not the data as it is. */
export function finishState(edges: StateEdges, state: State, result: string, from: string, isStored: boolean): void {
  const { machine } = edges;
  const query = machine.queryOf(state);
  const scope = scopeOf(machine, state, { result });
  const output = isStored ? undefined : outputOf(machine, state, atom(result, "json"), scope, query);
  // Assignments of JSONPath see the result as `$`.
  const assignScope =
    query === "JSONata"
      ? scope
      : scopeOf(machine, state, { result }, { channel: isStored ? "data" : result, path: [] });
  const variables = variablesOf(machine, state, state.source, assignScope, query);
  if (output === undefined && variables.length === 0) {
    edges.next(state, from);
    return;
  }
  const node = machine.local.fresh(`${state.node}_output`);
  writeData(machine, node, output, variables, scope);
  machine.edge(`${from} -> ${node}`);
  edges.next(state, node);
}
