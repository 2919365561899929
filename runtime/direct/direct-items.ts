/** The items of `for` nodes: which there are, their bodies, and the one update of a node that they make. */
import type { Evaluate, Scope } from "../expression/compile-expression.ts";
import type { ExpectedType } from "../interface/context.ts";
import { expectedType } from "../program/expected-type.ts";
import { elementType, plainResultType } from "../program/update-types.ts";
import { beginItems } from "../run/begin-items.ts";
import type { ChannelSpec, NodeSpec } from "../table/table.ts";
import { sha256 } from "../table/sha256.ts";
import { isThenable } from "../value/promise.ts";
import type { Json } from "../value/json.ts";
import { acceptType, acceptUpdate, type Accept, type Types } from "./accept.ts";
import { DirectContext } from "./direct-context.ts";
import type { DirectNode, DirectReducer } from "./direct-graph.ts";
import type { DirectRun, DirectTask } from "./direct-run.ts";

/** The code of a `for` node. */
export interface ItemsCode {
  readonly list: Evaluate;
  readonly condition: Evaluate | undefined;
  readonly item: string;
  readonly index: string | undefined;
  readonly parallel: number | undefined;
  /** The result of an item. */
  readonly accept: Accept;
  /** Makes the results of all items the update of the channel. */
  readonly combine: (items: readonly Json[]) => Json;
}

export interface DirectItem {
  readonly item: Json;
  /** Its position in the list, in which a condition may leave out others. */
  readonly index: number;
  /** Once its body has begun. */
  task: DirectTask | undefined;
}

/** A step whose items begin one after the other. */
export interface DirectStep {
  isOver: boolean;
  /** Called when an item has failed, or has a result that does not fit. */
  readonly halt: () => void;
}

/** The code of `for` nodes, which the module of a graph without them leaves out. */
export interface ItemParts {
  compile(
    node: NodeSpec,
    channel: ChannelSpec | undefined,
    code: {
      readonly expressions: readonly Evaluate[];
      readonly types: Types;
      readonly reducer: DirectReducer | undefined;
    },
  ): ItemsCode | undefined;
  /** The items of the nodes of a step; `undefined` if the engine has to find them, or what is wrong with them. */
  of(run: DirectRun, ready: readonly number[]): ReadonlyMap<number, DirectItem[]> | undefined;
  /**
   * Begins the items of a node.
   *
   * @param step no item begins, or is settled, once it is over: the engine takes over
   * @returns a promise if some item has not ended
   */
  begin(run: DirectRun, node: DirectNode, items: DirectItem[], step: DirectStep): Promise<void> | undefined;
  /** The update of a node whose items have all ended. @throws what a reducer throws */
  update(node: DirectNode, items: readonly DirectItem[]): Json;
}

/** The items of longer lists begin in the engine, which gives the event loop turns while it collects them. */
const MOST_ITEMS = 1000;

class ItemContext extends DirectContext {
  readonly #run: DirectRun;
  readonly #node: NodeSpec;
  readonly #item: DirectItem;

  constructor(run: DirectRun, index: number, item: DirectItem) {
    super(run, index);
    this.#run = run;
    this.#node = run.code.table.nodes[index]!;
    this.#item = item;
  }

  override get item(): Json {
    return this.#item.item;
  }
  override get idempotencyKey(): string {
    const { item, index } = this.#item;
    const name = `${this.#node.name}[${index}]#${sha256(JSON.stringify(item)).slice(0, 12)}`;
    return `sha256:${sha256(`${this.#run.id}:${name}@${this.step}`)}`;
  }
  override get expects(): ExpectedType | undefined {
    return expectedType(this.#run.code.table, this.#node, (channel, _isItem, types) =>
      isElement(channel) ? (elementType(channel.type, types) ?? { kind: "json" }) : plainResultType(channel, types),
    );
  }
}

/** Whether the channel stores a list of the items' results, not what a reducer makes of them. */
function isElement({ reducer }: Pick<ChannelSpec, "reducer">): boolean {
  return reducer === undefined || reducer.kind === "last";
}

function combiner(kind: string | undefined, reducer: DirectReducer | undefined): ItemsCode["combine"] {
  switch (kind) {
    case "append":
    case "union":
      return (items) => Object.freeze(items.flat() as readonly Json[]);
    case "sum":
    case "min":
    case "max":
    case "merge":
      return ([first, ...others]) => {
        // No item updates nothing.
        if (first === undefined) return null;
        return reducer!.all === undefined ? others.reduce(reducer!.one, first) : reducer!.all(first, others);
      };
    default:
      return (items) => Object.freeze(items.slice());
  }
}

/** What an item without a channel for its result has. */
const anything: Accept = () => null;

function localsOf({ item: name, index: indexName }: ItemsCode, item: Json, index: number): ReadonlyMap<string, Json> {
  const locals = new Map([[name, item]]);
  if (indexName !== undefined) locals.set(indexName, index);
  return locals;
}

function scopeOf({ state, secrets }: DirectRun, code: ItemsCode, item: Json, index: number): Scope {
  return { state, secrets, error: null, outcome: null, locals: localsOf(code, item, index) };
}

export const items: ItemParts = {
  compile({ each }, channel, { expressions, types, reducer }) {
    if (each === undefined) return undefined;
    const type = channel && ((channel.type.kind === "ref" ? types.get(channel.type.name) : undefined) ?? channel.type);
    const element = type?.kind === "list" ? type.item : undefined;
    return {
      list: expressions[each.list]!,
      condition: each.condition === undefined ? undefined : expressions[each.condition]!,
      item: each.item,
      index: each.index,
      parallel: each.parallel,
      accept:
        channel === undefined
          ? anything
          : isElement(channel)
            ? acceptType(element ?? { kind: "json" }, types)
            : acceptUpdate(channel, types),
      combine: combiner(channel?.reducer?.kind, reducer),
    };
  },
  of(run, ready) {
    const found = new Map<number, DirectItem[]>();
    // The engine does not read them again: what a list calls may have effects.
    const lists = (run.lists = new Map<number, unknown>());
    try {
      for (const index of ready) {
        const code = run.code.nodes[index]!.items;
        if (code !== undefined) lists.set(index, code.list(run));
      }
      for (const [index, list] of lists) {
        const code = run.code.nodes[index]!.items!;
        if (!Array.isArray(list) || list.length > MOST_ITEMS) return undefined;
        const items: DirectItem[] = [];
        for (const [at, item] of (list as readonly Json[]).entries()) {
          const holds = code.condition?.(scopeOf(run, code, item, at)) ?? true;
          if (typeof holds !== "boolean") return undefined;
          if (holds) items.push({ item, index: at, task: undefined });
        }
        found.set(index, items);
      }
    } catch {
      return undefined;
    }
    run.lists = undefined;
    return found;
  },
  begin(run, { index, call, hasTimeout, items: code }, items, step) {
    const { functions, expressions, module } = run.code;
    const end = (task: DirectTask, value: unknown): void => {
      task.state = "value";
      task.value = value;
      const accepted = DirectContext.close(task.context) === undefined ? code!.accept(value) : undefined;
      if (accepted === undefined) step.halt();
      // The body may change its result while others run.
      else task.value = accepted;
    };
    const fail = (task: DirectTask, error: unknown): void => {
      DirectContext.close(task.context);
      task.state = "thrown";
      task.value = error;
      step.halt();
    };
    return beginItems(run, items.length, code!.parallel, (at, ended) => {
      if (step.isOver) return false;
      const one = items[at]!;
      const context = new ItemContext(run, index, one);
      const task: DirectTask = (one.task = { context, state: "pending", value: undefined });
      try {
        const value = call(scopeOf(run, code!, one.item, one.index), functions, expressions, context);
        if (!isThenable(value)) {
          end(task, value);
          return !step.isOver;
        }
        task.value = Promise.resolve(value);
        if (hasTimeout) module.timeouts!.start(run, index, task);
      } catch (error) {
        fail(task, error);
        return false;
      }
      const goOn = (settle: () => void): void => {
        // The engine awaits the body itself.
        if (step.isOver) return;
        settle();
        if (!step.isOver) ended();
      };
      if (task.timer !== undefined) task.timer.onLate = (error) => goOn(() => fail(task, error));
      (task.value as Promise<unknown>).then(
        (value) => goOn(() => end(task, value)),
        (error: unknown) => goOn(() => fail(task, error)),
      );
      return false;
    });
  },
  update: ({ items: code }, items) => code!.combine(items.map(({ task }) => task!.value as Json)),
};
