/** 3.4: the table holds which nodes can lead to which member of a `settled`. */
import { describe, expect, test } from "vitest";
import { loadTable } from "../../compiler/table/load-table.ts";
import { routeBranches } from "../../runtime/table/route-branches.ts";
import { createEngine } from "../../runtime/index.ts";
import { barrierTargets, END, type Table, type TargetSpec } from "../../runtime/table/table.ts";
import { scale } from "../support/depth.ts";
import { tableOf as tableOfText } from "../support/graph.ts";
import { randomGraph } from "../proofs/oracle/random-graph.ts";
import { tableOf } from "./compile-text.ts";

/** The nodes that can reach a member, found forwards from each node over the routes of the table. */
function reachOf(table: Table, barrier: number, member: number): number[] {
  const spec = table.barriers[barrier]!;
  const cut = new Set(barrierTargets(spec));
  const leads = (from: number): boolean => {
    const seen = new Set([from]);
    for (const at of seen) {
      if (cut.has(at)) continue;
      const node = table.nodes[at]!;
      const targets: TargetSpec[] = [
        ...node.routes.flatMap((route) => routeBranches(route).flatMap((branch) => branch.targets)),
        ...node.onError.flatMap((route) => route.targets),
        ...(node.goes ?? []).map((target) => ({ node: target })),
      ];
      const jumps = new Set(node.goes);
      for (const target of targets) {
        if ("barrier" in target) {
          if (target.barrier === barrier && spec.members[member]!.includes(at)) return true;
          if (target.barrier !== barrier)
            for (const next of barrierTargets(table.barriers[target.barrier]!)) if (next !== END) seen.add(next);
        } else if (target.node !== END) {
          // An edge into a gate of other nodes has no effect; a jump can be exclusive.
          const isIgnored = table.nodes[target.node]!.waits !== undefined && !jumps.has(target.node);
          if (!isIgnored) seen.add(target.node);
        }
      }
    }
    return false;
  };
  return [...table.nodes.keys()].filter((node) => leads(node));
}

function listed(ranges: readonly number[]): number[] {
  return ranges.flatMap((first, at) =>
    at % 2 === 1 ? [] : Array.from({ length: ranges[at + 1]! - first + 1 }, (_, i) => first + i),
  );
}

describe("the reach of a member", () => {
  test("has each node from which edges lead to it, but no path through a target", () => {
    const table = tableOf(`graph g {
      node a = sleep(1)  node b = sleep(1)  node c = sleep(1)  node d = sleep(1)  node e = sleep(1)
      start -> a, b  b -> d  d -> d when 1 > 2  d -> e otherwise  c -> a  settled(a, e) -> c }`);
    expect(table.barriers).toEqual([
      {
        id: "c",
        kind: "settled",
        target: 2,
        members: [[0], [4]],
        reach: [
          [0, 0],
          [1, 1, 3, 4],
        ],
      },
    ]);
    expect(loadTable(JSON.parse(JSON.stringify(table)))).toEqual(table);
  });

  test("is what a search over the routes of the table finds, on random graphs", () => {
    let compared = 0;
    for (let seed = 0; seed < scale(4000, 200); seed++) {
      let table: Table;
      try {
        table = tableOfText(randomGraph(seed, "free").text.replace(/^import.*\n/, ""), ["act"]);
      } catch {
        continue;
      }
      for (const [barrier, { kind, members, reach = [] }] of table.barriers.entries()) {
        if (kind !== "settled") continue;
        for (const member of members.keys()) {
          expect(listed(reach[member]!), `seed ${seed}`).toEqual(reachOf(table, barrier, member));
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(scale(800, 40));
  });

  test("costs members x edges / 32: a fan of 1,000 branches", () => {
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}`);
    const table = tableOf(`graph g { node first = sleep(1)  node last = sleep(1)
      ${names.map((name) => `node ${name} = sleep(1)`).join("\n")}
      start -> first -> ${names.join(", ")}  settled(${names.join(", ")}) -> last }`);
    expect(table.barriers[0]?.reach?.[999]).toEqual([0, 0, 1001, 1001]);
  });
});

test("a table with a wrong `settled` is refused", () => {
  const table = tableOf(`graph g { node a = sleep(1)  node b = sleep(1)  node c = sleep(1)  node d = sleep(1)
    start -> a, b  settled(a, b) -> c, d }`);
  const change = (fields: object): Table => ({ ...table, barriers: [{ ...table.barriers[0]!, ...fields }] });
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ reach: undefined }, /expected 2 lists, one for each member/],
    [{ reach: [[0, 0]] }, /expected 2 lists, one for each member/],
    [{ reach: [[0], [1, 1]] }, /pairs of the first and the last node/],
    [
      {
        reach: [
          [1, 0],
          [1, 1],
        ],
      },
      /not in ascending order/,
    ],
    [
      {
        reach: [
          [0, 0, 1, 1],
          [1, 1],
        ],
      },
      /not in ascending order/,
    ],
    [
      {
        reach: [
          [0, 9],
          [1, 1],
        ],
      },
      /there is no node 9/,
    ],
    [{ kind: "all" }, /a barrier of kind `all` has one target/],
    [{ kind: "all", others: undefined }, /a barrier of kind `all` has no reach/],
  ];
  for (const [fields, message] of refused) {
    const wrong = JSON.parse(JSON.stringify(change(fields))) as Table;
    expect(() => createEngine(wrong)).toThrow(message);
  }
});
