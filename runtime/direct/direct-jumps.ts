import type { Command, NodeContext } from "../interface/context.ts";
import { COMMAND_VALUE } from "../step/command.ts";
import { END, type NodeSpec, type Table } from "../table/table.ts";
import { copyPlain } from "../value/copy-plain.ts";
import type { Json } from "../value/json.ts";
import { MAX_VALUE_COUNT, MAX_VALUE_DEPTH, MAX_VALUE_TEXT } from "../value/limits.ts";
import { DirectContext, type Request } from "./direct-context.ts";
import type { DirectNode } from "./direct-graph.ts";
import type { DirectRun } from "./direct-run.ts";

/** What follows a node instead of its edges. */
export interface Jump {
  /** None for a branch that stops. */
  readonly targets: readonly number[];
  /** The targets replace what follows the whole step (2.6). */
  readonly exclusive: boolean;
}

/** The names of the declared targets of a node. */
export type Goals = ReadonlyMap<unknown, number>;

/** The jumps of the tasks of a step. */
interface StepJumps {
  /** The task whose exclusive jump replaces what follows the step, also past the gates of its targets; -1 without one. */
  readonly winner: number;
  /** Whether a jump replaces the result. */
  drops(task: number, value: unknown): boolean;
  /** `undefined` if the edges of the node are followed. */
  targets(task: number): readonly number[] | undefined;
}

/** The code of jumps, which the module of a graph without them leaves out. */
export interface JumpParts {
  goalsOf(table: Table, node: NodeSpec): Goals | undefined;
  /** The context of a node with declared jumps; `undefined` for another node. */
  open(run: DirectRun, node: DirectNode): DirectContext | undefined;
  of(tasks: readonly { readonly context: DirectContext }[]): StepJumps;
  /** The jump of a body, for the engine. */
  requestOf(context: DirectContext): Request | undefined;
}

const ITEM = { values: MAX_VALUE_COUNT, text: MAX_VALUE_TEXT, levels: MAX_VALUE_DEPTH };

/** Answers the requests that `goes` allows; the base refuses all others. */
class JumpingContext extends DirectContext {
  readonly #goals: Goals;
  #jump: Jump | undefined;
  #request: Request | undefined;

  constructor(run: DirectRun, index: number, goals: Goals) {
    super(run, index);
    this.#goals = goals;
  }

  static jump(context: JumpingContext): Jump | undefined {
    return context.#jump;
  }
  static request(context: JumpingContext): Request | undefined {
    return context.#request;
  }

  override get goto(): NodeContext["goto"] {
    return (...args: readonly unknown[]): Command => {
      const last = args.at(-1);
      const options = typeof last === "object" && last !== null && "exclusive" in last ? last : undefined;
      const names = (options === undefined ? args : args.slice(0, -1)).filter((name) => name !== "");
      const targets = names.map((name) => this.#goals.get(name));
      const exclusive = options?.exclusive ?? false;
      if (typeof exclusive !== "boolean" || !targets.every((target) => target !== undefined)) {
        return super.goto(...(args as Parameters<NodeContext["goto"]>));
      }
      const jump = targets.length === 0 ? undefined : { targets, exclusive };
      return this.#jumpTo(jump, { method: "goto", args: [...names, { exclusive }] });
    };
  }
  override get send(): NodeContext["send"] {
    return (...args: readonly [string, Json?]): Command => {
      const [node] = args;
      const item = copyPlain(args.length < 2 ? null : args[1], ITEM);
      if (item === undefined || (this.#goals.get(node) ?? END) === END)
        return super.send(...(args as readonly [string, Json]));
      // The engine runs what is sent.
      DirectContext.ask(this, { method: "send", args: [node, item] });
      return COMMAND_VALUE;
    };
  }
  override get stop(): NodeContext["stop"] {
    return (): Command => {
      if (!this.#goals.has("end")) return super.stop();
      return this.#jumpTo({ targets: [], exclusive: false }, { method: "stop", args: [] });
    };
  }

  /** The last jump counts. A jump without targets follows the edges. */
  #jumpTo(jump: Jump | undefined, request: Request): Command {
    if (!DirectContext.isOver(this)) {
      this.#jump = jump;
      this.#request = request;
    }
    return COMMAND_VALUE;
  }
}

export const jumps: JumpParts = {
  goalsOf({ nodes }, { goes }) {
    return goes === undefined
      ? undefined
      : new Map(goes.map((node) => [node === END ? "end" : nodes[node]!.name, node] as const));
  },
  open: (run, { index, goals }) => (goals === undefined ? undefined : new JumpingContext(run, index, goals)),
  of(tasks) {
    const found = tasks.map(({ context }) =>
      context instanceof JumpingContext ? JumpingContext.jump(context) : undefined,
    );
    const winner = found.map((jump) => jump?.exclusive === true).lastIndexOf(true);
    return {
      winner,
      drops: (at, value) => found[at] !== undefined && (value === COMMAND_VALUE || value === undefined),
      targets: (at) => (winner !== -1 && at !== winner ? [] : found[at]?.targets),
    };
  },
  requestOf: (context) => (context instanceof JumpingContext ? JumpingContext.request(context) : undefined),
};
