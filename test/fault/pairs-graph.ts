/** The graph of the pairs of operations: a node with retries, called graphs in a list, an answer, a timer, a signal, and undos. */
import type { Table } from "../../runtime/index.ts";
import { tableOf } from "../support/graph.ts";

/** The items of the list. One comes twice. */
export const ITEMS: readonly string[] = ["x", "y", "x", "z"];

/** A version of the graphs: the names that its migrations change, of a node and of a node of the called graph. */
interface Version {
  readonly outer: string;
  readonly inner: string;
  readonly table: Table;
}

export const VERSIONS: readonly Version[] = ["a", "aa"].flatMap((outer) =>
  ["second", "zweite"].map((inner) => ({ outer, inner, table: tableOf(textOf(outer, inner), ["body", "un"]) })),
);

/** How many results of a body a run can have, by the name that its node passes and its item. */
export function resultsInRun(node: string, item: string): number {
  return node === "first" || node === "second" ? ITEMS.filter((one) => one === item).length : 1;
}

/** The names to change from one version to another. */
export function renamesBetween(from: Version, to: Version): Record<string, string> {
  return {
    ...(from.outer === to.outer ? {} : { [from.outer]: to.outer }),
    ...(from.inner === to.inner ? {} : { [`sub.${from.inner}`]: to.inner }),
  };
}

function textOf(outer: string, inner: string): string {
  return `
graph sub {
  input x: string  output y: string = ""  state m: string = ""  memory seen: int = 0 reduce sum
  node first = body("first", x) into m { undo un(m) }
  node ${inner} = body("second", m) into y
  node count = 1 into seen
  start -> first -> ${inner} -> count
}
graph g {
  input xs: string[]  output log: string[] = [] reduce append  memory turns: int = 0 reduce sum
  output ans: string | null  output got: string | null
  node ${outer} = body("a", "") into log { undo un(log) tries 2 backoff 1ms..2ms }
  node every = sub(x: x) for x in xs into { y: log } { max parallel 2 }
  node q = ask("ok?") into ans
  node t = sleep(2m)
  node s = receive("sig") into got
  node d = body("d", "") into log
  node turn = 1 into turns
  start -> ${outer}, every, q
  all(${outer}, every, q) -> t -> s -> d -> turn
}`;
}
