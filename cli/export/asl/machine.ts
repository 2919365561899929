/** A state machine while it is written: its states, the names in it, and its expressions. */
import type { Span } from "../../../diagnostics/source.ts";
import type { BoundGraph, BoundNode, TypedExpression } from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { ExportError, type Losses } from "../losses.ts";
import type { HelperOf } from "./imported-stubs.ts";
import {
  inPercent,
  jsonataFields,
  jsonataText,
  jsonataValue,
  NoJsonata,
  type ExpressionCall,
  type JsonataScope,
} from "./jsonata-text.ts";

/** The longest name of a state. */
const NAME_LENGTH = 80;

/** A state, or a machine, as JSON. */
export type State = Record<string, Json>;

/** What all machines of a file share. */
export interface Shared {
  readonly losses: Losses;
  /** State names are unique in the whole machine, and names of variables in machines inside of each other. */
  readonly stateNames: Set<string>;
  readonly variables: Set<string>;
  readonly helperOf: HelperOf;
  /** Writes the states of a node. */
  readonly writeNode: (machine: Machine, node: BoundNode) => void;
  /** The machine of a called graph. */
  readonly writeGraph: (graph: BoundGraph, shared: Shared, depth: number) => State;
}

/** How the nodes of a branch leave it. */
interface Exit {
  /** Members of the barrier behind the branches. */
  readonly members: ReadonlySet<string>;
}

/** A name that is not taken. It is taken from now on. */
export function freshName(wish: string, taken: Set<string>): string {
  const base = wish.slice(0, NAME_LENGTH - 4);
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

/** The state machine of a graph, or of a branch. */
export class Machine {
  readonly graph: BoundGraph;
  readonly shared: Shared;
  readonly depth: number;
  /** The variables of channels. */
  readonly variables: ReadonlyMap<string, string>;
  /** Present in a branch. */
  readonly exit: Exit | undefined;
  readonly states = new Map<string, State>();
  /** States with the calls of an expression, before the state that reads the results. */
  calls: State[] = [];
  /** The name of the last state. */
  last = "";
  /** The machine around a branch. */
  readonly #outer: Machine | undefined;
  /** The states of nodes, by node. */
  readonly #named = new Map<string, string>();
  readonly #open: BoundNode[] = [];
  /** The variable of the last caught error, if something reads it. */
  #error: string | undefined;

  constructor(
    graph: BoundGraph,
    shared: Shared,
    depth: number,
    variables: ReadonlyMap<string, string>,
    exit: Exit | undefined,
    outer?: Machine,
  ) {
    this.graph = graph;
    this.shared = shared;
    this.depth = depth;
    this.variables = variables;
    this.exit = exit;
    this.#outer = outer;
  }

  /** Writes the states between a first and a last one. */
  write(first: State, last: State, enter: () => string): State {
    const name = this.fresh(`start of ${this.graph.name}`);
    this.states.set(name, first);
    this.last = this.fresh(`end of ${this.graph.name}`);
    first["Next"] = enter();
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) this.shared.writeNode(this, node);
    if (this.#error !== undefined) {
      const outer = this.#outer === undefined ? null : inPercent(`$${this.#outer.errorVariable()}`);
      first["Assign"] = { ...(first["Assign"] as State | undefined), [this.#error]: outer };
      for (const { Catch = [] } of this.states.values())
        for (const catcher of Catch as unknown as State[])
          catcher["Assign"] = { [this.#error]: inPercent("$states.errorOutput") };
    }
    this.states.set(this.last, last);
    return { StartAt: name, States: Object.fromEntries(this.states) };
  }

  /** The state of a node, which is written later. */
  stateOf(name: string): string {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const made = this.fresh(name);
    this.#named.set(name, made);
    this.#open.push(this.graph.nodes.find((node) => node.name === name)!);
    return made;
  }

  /** Records a loss of the export. */
  lose(span: Span, message: string, help: string): void {
    this.shared.losses.add({ file: this.graph.file, span, message, help });
  }

  /** @throws ExportError */
  refuse(span: Span, message: string, help: string): never {
    throw new ExportError({ file: this.graph.file, span, message, help });
  }

  /** The name of a new state. */
  fresh(wish: string): string {
    return freshName(wish, this.shared.stateNames);
  }

  /** What expressions read. `locals`: the texts of the variables of `for`. */
  scope(locals: ReadonlyMap<string, string> = new Map()): JsonataScope {
    return {
      channel: (index) => `$${this.variables.get(this.graph.channels[index]!.name)!}`,
      typeOf: (index) => this.graph.channels[index]?.type,
      locals,
      helper: (index) => this.shared.helperOf(this.graph, this.graph.functions[index]!),
      error: () => `$${this.errorVariable()}`,
      ...(locals.size === 0 ? { called: (call: ExpressionCall) => this.#callBefore(call) } : {}),
    };
  }

  /** A pure function that an expression calls runs in a Task before. Returns the variable with its result. */
  #callBefore({ function: index, args }: ExpressionCall): string {
    const { name } = this.graph.functions[index]!;
    const scope = this.scope();
    const [only] = args;
    const input = args.length === 1 && only!.op === "record" ? jsonataFields(only!, scope) : undefined;
    const variable = freshName(`${name}_result`, this.shared.variables);
    this.calls.push({
      Type: "Task",
      Resource: `\${${name}}`,
      Arguments: input ?? { arguments: args.map((arg) => jsonataValue(arg, scope)) },
      Assign: { [variable]: inPercent("$states.result") },
    });
    return `$${variable}`;
  }

  /** Puts the calls of a state's expressions before it. Returns the state that is entered. */
  enterThroughCalls(name: string, calls = this.calls): string {
    this.calls = [];
    return calls.reduceRight<string>((next, call) => {
      const own = this.fresh(/\{(.*)\}/.exec(String(call["Resource"]))![1]!);
      this.states.set(own, { ...call, Next: next });
      return own;
    }, name);
  }

  /** The variable of the last caught error. */
  errorVariable(): string {
    this.#error ??= freshName("caught", this.shared.variables);
    return this.#error;
  }

  /** An expression without a form in JSONata is refused. @throws ExportError */
  say<T>(span: Span, say: () => T): T {
    try {
      return say();
    } catch (error) {
      if (!(error instanceof NoJsonata)) throw error;
      return this.refuse(span, error.message, "compute the value in an imported function, with a node of its own");
    }
  }

  /** The expression as a value of a state. @throws ExportError */
  value(value: TypedExpression, scope = this.scope()): Json {
    return this.say(value.span, () => jsonataValue(value.expression, scope));
  }

  /** The expression as JSONata. @throws ExportError */
  text(value: TypedExpression, scope = this.scope()): string {
    return this.say(value.span, () => jsonataText(value.expression, scope));
  }
}
