import { guardReads } from "../value/admit.ts";
import { dropPromise } from "../value/promise.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { ImportedFunction } from "../interface/engine-options.ts";
import type { Json } from "../value/json.ts";
import type { ChannelSpec, Table } from "../table/table.ts";
import { sharedItems } from "../value/same-json.ts";
import { admitUnknown, compileAdmit, type Validator } from "../value/validate.ts";
import type { ValueType } from "../table/value-type.ts";
import { endsPart, toEnd, type Work } from "../value/work.ts";
import { mergeItems, mergingItems } from "./merge-items.ts";
import { itemUpdateType, mergesItems, partialType } from "./result-types.ts";
import { elementType } from "./update-types.ts";
import {
  appending,
  merging,
  reduceAppend,
  reduceMax,
  reduceMerge,
  reduceMin,
  reduceSum,
  reduceUnion,
  uniting,
} from "./reducers.ts";

export type Reduce = (current: Json, update: Json) => Json;

/** Several updates, in parts. */
type Reducing = (current: Json, updates: readonly Json[]) => Work<Json>;

/** Reducers that read the whole current value for each update, in a form that reads it once for all updates. They never throw. */
const REDUCING: Readonly<Record<string, Reducing>> = { append: appending, union: uniting, merge: merging };

/**
 * One channel: which values it accepts, and how an update changes its value. Validators are compiled on first use: a
 * large table costs nothing for channels that a run does not use.
 */
export class ChannelCode {
  readonly index: number;
  readonly name: string;
  readonly spec: ChannelSpec;
  /** Absent: one writer in each step. */
  readonly reduce: Reduce | undefined;
  /** Applies one or several updates in linear time, in parts. Absent if `reduce` takes constant time, or may throw. */
  readonly reducing: Reducing | undefined;
  readonly #types: Table["types"];
  readonly #table: Table;
  /** `merge` of a list of records, by their ids. */
  readonly #mergesItems: boolean;
  #plain: ChannelCode | undefined;
  #admit: Validator | undefined;
  #admitUpdate: Validator | undefined;
  #admitItem: Validator | undefined;

  constructor(table: Table, index: number, reducer: ImportedFunction | undefined) {
    this.index = index;
    this.spec = table.channels[index]!;
    this.name = this.spec.name;
    this.#types = table.types;
    this.#table = table;
    this.#mergesItems = this.spec.reducer?.kind === "merge" && mergesItems(this.spec.type, this.#types);
    this.reduce = this.#makeReduce(reducer);
    this.reducing = this.#mergesItems ? mergingItems : REDUCING[this.spec.reducer?.kind ?? ""];
  }

  /** The channel as writes with `set` see it: without its reducer. */
  get plain(): ChannelCode {
    if (this.spec.reducer === undefined) return this;
    const { reducer: _reducer, ...spec } = this.spec;
    return (this.#plain ??= new ChannelCode({ ...this.#table, channels: [spec] }, 0, undefined));
  }

  /** Admits a whole value of the channel's type. */
  admit(value: unknown): Json | Mismatch {
    return (this.#admit ??= compileAdmit(this.spec.type, this.#types))(value);
  }

  /** Admits the result of a node. For `append` and `union` the result is a list, even for a single item. */
  admitUpdate(value: unknown): Json | Mismatch {
    return (this.#admitUpdate ??= this.#makeAdmitUpdate())(value);
  }

  /** Admits the result for one item of a `for` node. */
  admitItem(value: unknown): Json | Mismatch {
    return (this.#admitItem ??= this.#makeAdmitItem())(value);
  }

  /** Combines the results of `admitItem`, in item order, into the one update of the node (7.1). */
  combineItems(items: readonly Json[]): Json {
    return toEnd(this.combiningItems(items));
  }

  /** `combineItems` in parts. */
  *combiningItems(items: readonly Json[]): Work<Json> {
    if (this.#mergesItems) return yield* flat(items);
    switch (this.spec.reducer?.kind) {
      case "append":
      case "union":
        return yield* flat(items);
      case "sum":
      case "min":
      case "max":
      case "merge":
        // The items are separate numbers or records, not one list. An empty `for` updates nothing.
        if (items.length === 0) return null;
        if (this.reducing === undefined) return items.reduce(this.reduce as Reduce);
        return yield* this.reducing(items[0]!, items.slice(1));
      default:
        return Object.freeze(items.slice());
    }
  }

  #makeReduce(imported: ImportedFunction | undefined): Reduce | undefined {
    switch (this.spec.reducer?.kind) {
      case undefined:
        return undefined;
      case "last":
        return (_current, update) => update;
      case "append":
        return reduceAppend;
      case "sum":
        return reduceSum;
      case "min":
        return reduceMin;
      case "max":
        return reduceMax;
      case "merge":
        return this.#mergesItems ? mergeItems : reduceMerge;
      case "union":
        return reduceUnion;
      case "function":
        return (current, update) => {
          const result = (imported as (current: Json, update: Json) => unknown)(current, update);
          const value = this.#admitReduced(result, current);
          if (!(value instanceof Mismatch)) return value;
          dropPromise(result);
          throw new TypeError(`it returned what does not fit: ${value.describe()}`);
        };
    }
  }

  /**
   * The result of an imported reducer. The items that a list shares with the current value, as most lists that grow do, are
   * admitted already: the current ones are used, and a long list costs what is new in it.
   */
  #admitReduced(result: unknown, current: Json): Json | Mismatch {
    if (!Array.isArray(result) || !Array.isArray(current) || this.spec.type.kind !== "list") return this.admit(result);
    const known = current as readonly Json[];
    const whole = guardReads(() => {
      const shared = sharedItems(result, known);
      if (shared === known.length && shared === result.length) return current;
      const rest = this.admit(result.slice(shared));
      if (rest instanceof Mismatch) return rest;
      // Not `slice` or `concat`, which copy a frozen list item by item.
      const items: Json[] = [...known];
      items.length = shared;
      for (const item of rest as readonly Json[]) items.push(item);
      return Object.freeze(items);
    });
    // The mismatch names the place in the whole list.
    return whole instanceof Mismatch ? this.admit(result) : whole;
  }

  #makeAdmitUpdate(): Validator {
    const { type, reducer } = this.spec;
    switch (reducer?.kind) {
      case "append":
      case "union":
        return listUpdate(type, elementType(type, this.#types), this.#types);
      case "merge":
        if (this.#mergesItems) {
          const item = itemUpdateType(elementType(type, this.#types) ?? { kind: "json" }, this.#types);
          return listUpdate({ kind: "list", item }, item, this.#types);
        }
        return compileAdmit(partialType(type, this.#types), this.#types);
      case "function":
        // The type of the updates is not declared. The result of the reducer is checked.
        return admitUnknown;
      default:
        return (value) => this.admit(value);
    }
  }

  #makeAdmitItem(): Validator {
    const { type, reducer } = this.spec;
    if (reducer !== undefined && reducer.kind !== "last") return (value) => this.admitUpdate(value);
    const element = elementType(type, this.#types);
    if (element === undefined) return () => new Mismatch("a list channel for the results of `for`", "another type");
    return compileAdmit(element, this.#types);
  }
}

/** The items of all lists. */
function* flat(lists: readonly Json[]): Work<Json> {
  const items: Json[] = [];
  let count = 0;
  for (const list of lists) {
    if (Array.isArray(list)) for (const item of list as readonly Json[]) items.push(item);
    else items.push(list);
    if (endsPart(count++)) yield;
  }
  return Object.freeze(items);
}

/** Accepts a `T[]`, and a `T` as a list of one item. */
function listUpdate(type: ValueType, element: ValueType | undefined, types: Table["types"]): Validator {
  const admitWhole = compileAdmit(type, types);
  const admitOne = compileAdmit(element ?? { kind: "json" }, types);
  return (value) => {
    const whole = Array.isArray(value) ? admitWhole(value) : undefined;
    if (whole !== undefined && !(whole instanceof Mismatch)) return whole;
    const one = admitOne(value);
    if (!(one instanceof Mismatch)) return Object.freeze([one]);
    return whole ?? one;
  };
}
