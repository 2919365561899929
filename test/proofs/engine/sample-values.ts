import type { Expression } from "../../../runtime/expression/expression.ts";
import type { ExpectedType } from "../../../runtime/interface/context.ts";
import type { Table } from "../../../runtime/table/table.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import type { Json } from "../../../runtime/value/json.ts";

/** Values that the conditions of a graph compare with: its constants. */
export interface Constants {
  readonly numbers: readonly number[];
  readonly strings: readonly string[];
  /** Indexes of the channels that some expression reads: values of others make no difference to where a run goes. */
  readonly read: ReadonlySet<number>;
}

export function constantsOf(table: Table): Constants {
  const numbers = new Set<number>();
  const strings = new Set<string>();
  const read = new Set<number>();
  const add = (value: Json): void => {
    if (typeof value === "number") {
      // A longer time is no number to which runs count.
      if (Math.abs(value) <= LARGEST) numbers.add(value);
    } else if (typeof value === "string" && !NODE_NAME.test(value)) strings.add(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(add);
  };
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    const expression = part as Expression;
    if (expression.op === "const") add(expression.value);
    else if (expression.op === "channel") read.add(expression.channel);
    Object.values(part).forEach(visit);
  };
  table.expressions.forEach(visit);
  for (const node of table.nodes) {
    for (const route of node.routes) if (route.kind === "match") for (const arm of route.arms) arm.values.forEach(add);
  }
  return { numbers: [...numbers], strings: [...strings], read };
}

const LARGEST = 1e6;

/** Calls contain the names of their nodes, with which no condition compares. */
const NODE_NAME = /^[nf]\d+$/;

const MOST = 6;
const MOST_NUMBERS = 14;

/** Some values of a type: around the constants that conditions compare with, and at the edges of the type. */
export function sampleValues({ type, types }: ExpectedType, constants: Constants): readonly Json[] {
  const named = new Map(types.map((entry) => [entry.name, entry.type]));
  const sample = (of: ValueType, depth: number): readonly Json[] => {
    switch (of.kind) {
      case "string":
        return distinct([...constants.strings.slice(0, 5), "", "q", "a"]);
      case "int": {
        const near = constants.numbers.filter(Number.isSafeInteger).flatMap((value) => [value, value + 1, value - 1]);
        return distinct([0, 1, -1, ...near, 7]).slice(0, MOST_NUMBERS);
      }
      case "float": {
        const near = constants.numbers.flatMap((value) => [value, value + 0.5, value - 0.5, value - 1]);
        return distinct([0, 1e-20, -1e-20, 7.5, 1, -1, ...near]).slice(0, MOST_NUMBERS);
      }
      case "bool":
        return [false, true];
      case "null":
        return [null];
      case "literal":
        return [of.value];
      case "list": {
        const items = depth > 2 ? [] : sample(of.item, depth + 1);
        const [first, second = first] = items;
        return first === undefined || second === undefined
          ? [[]]
          : [[], [first], [second], [first, second], [items.at(-1) ?? first], [first, second, first, second]];
      }
      case "map": {
        const [first, second = first] = depth > 2 ? [] : sample(of.value, depth + 1);
        return first === undefined || second === undefined ? [{}] : [{}, { k: first }, { k: second }];
      }
      case "record": {
        const fields = of.fields.map((field) => ({ ...field, values: sample(field.type, depth + 1) }));
        const count = Math.min(MOST, Math.max(1, ...fields.map(({ values }) => values.length)));
        const without = fields.some(({ optional }) => optional === true) ? fields.length + 1 : 0;
        // The first records have all fields. The others lack all optional ones, or one of them.
        return Array.from({ length: count + without }, (_, at) =>
          Object.fromEntries(
            fields.flatMap(({ name, optional, values }, place) => {
              const lacks = optional === true && (at === count || at - count - 1 === place);
              return lacks ? [] : [[name, values[(at + place) % values.length] ?? null]];
            }),
          ),
        );
      }
      case "union":
        return ofEach(of.members.map((member) => sample(member, depth + 1).slice(0, 3)));
      case "ref": {
        const body = named.get(of.name);
        return body === undefined || depth > 3 ? [null] : sample(body, depth + 1);
      }
      default:
        return [null, 1, "a", { a: 1 }];
    }
  };
  return sample(type, 0);
}

/** Some values of each member of a union: the first ones of all members come first. */
function ofEach(members: readonly (readonly Json[])[]): Json[] {
  const ranked = members.flatMap((values) => values.map((value, rank) => ({ value, rank })));
  const all = ranked.sort((a, b) => a.rank - b.rank).map(({ value }) => value);
  return distinct(all).slice(0, Math.max(MOST, members.length));
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
