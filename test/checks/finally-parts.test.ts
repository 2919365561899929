/** Random graphs with a `finally` part: the verdict of each part, compared with that of a graph without parts. */
import { describe, expect, test } from "vitest";
import { checkGraph } from "../../compiler/checks/check-graph.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { generateGraph } from "../proofs/engine/generate.ts";
import { isDeep, scale } from "../support/depth.ts";
import { bindText } from "./support/bind-text.ts";

const SEEDS = scale(150, 5);

/** The last graph of a text, checked; `undefined` if it does not bind. */
function checkLast(text: string): ReturnType<typeof checkGraph> | undefined {
  const { graphs } = bindText(text);
  const graph = graphs.at(-1);
  return graph === undefined || graph.hasErrors ? undefined : checkGraph(graph);
}

const END = /\n\}\s*$/;
/** Findings that the two graphs have, each once. */
const shown = (found: readonly Diagnostic[]): string[] =>
  [...new Set(found.map(({ code, severity, message }) => `${severity} ${code} ${message}`))].toSorted();

describe("a graph with a `finally` part", () => {
  test("its main part has the findings and the verdict of the graph without it", { timeout: 300_000 }, () => {
    let compared = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const text = generateGraph(seed);
      const alone = checkLast(text);
      const both = checkLast(text.replace(END, `\n  node at_the_end = act("end")\n  finally -> at_the_end\n}`));
      expect(both === undefined, `seed ${seed}`).toBe(alone === undefined);
      if (alone === undefined || both === undefined) continue;
      compared++;
      expect(shown(both.diagnostics), `seed ${seed}\n${text}`).toEqual(shown(alone.diagnostics));
      expect(both.verdict?.kind, `seed ${seed}`).toBe(alone.verdict?.kind);
    }
    expect(compared).toBeGreaterThan(SEEDS / 5);
  });

  test(
    "what holds for it with any values of the channels holds for the same graph from `start`",
    { timeout: 300_000 },
    () => {
      let sound = 0;
      let errors = 0;
      for (let seed = 0; seed < SEEDS; seed++) {
        const text = generateGraph(seed);
        const head = text.lastIndexOf("\ngraph ");
        const moved = `${text.slice(0, head)}${text.slice(head).replace(/^ {2}start ->/gm, "  finally ->")}`;
        const ending = checkLast(moved.replace(END, `\n  node alone = act("alone")\n  start -> alone -> end\n}`));
        const own = checkLast(text);
        if (own === undefined || ending === undefined) continue;
        const codes = new Set(own.diagnostics.map(({ code }) => code));
        if (ending.verdict?.kind === "sound") {
          sound++;
          expect(
            own.diagnostics.filter(({ severity }) => severity === "error"),
            `seed ${seed}\n${text}`,
          ).toEqual([]);
        }
        for (const { code, severity, trace } of ending.diagnostics) {
          if (severity !== "error" || trace?.[0]?.entry !== "finally" || code === "NG213") continue;
          errors++;
          expect([...codes], `seed ${seed}\n${text}`).toContain(code);
        }
      }
      if (!isDeep) return;
      expect(sound).toBeGreaterThan(2);
      expect(errors).toBeGreaterThan(0);
    },
  );
});

test("findings about loops say that they repeat in the part that begins at `finally`", () => {
  const loop =
    "node b = act(k) into k\n  node c = act(k) into k\n  state k: int = 0\n  b -> c\n  c -> b when n > k\n  c -> end otherwise";
  const text = (edges: string): string =>
    `import { act } from "./nodes.ts"\ngraph g {\n  input n: int\n  ${loop}\n  ${edges}\n}`;
  const notes = (edges: string): readonly string[] =>
    (checkLast(text(edges))?.diagnostics ?? []).flatMap(({ code, notes: list }) =>
      code === "NG206" ? [list.join()] : [],
    );
  expect(notes("start -> b")).toEqual([""]);
  expect(notes("node a = act(1)\n  start -> a\n  finally -> b")).toEqual([
    "in the part of the graph that begins at `finally`",
  ]);
});

describe("conditions on fields of `outcome` and `error`", () => {
  const find = (edges: string): readonly string[] => {
    const text = `import { act } from "./nodes.ts"\ngraph g {\n  node a = act(1)\n  node b = act(2)\n  node c = act(3)\n  start -> a\n  ${edges}\n}`;
    const { diagnostics = [], verdict } = checkLast(text) ?? {};
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    return [verdict?.kind ?? "", ...errors.map(({ code, message }) => `${code} ${message}`)];
  };
  test.each([
    `finally -> b\n  b -> c when outcome.status == "failed"
      b -> end when outcome.status in ["completed", "incomplete", "limit", "cancelled", "rolled_back"]`,
    `finally -> b when outcome.status == "failed" || outcome.status == "cancelled"
      finally -> c when outcome.status == "completed" || outcome.status == "incomplete"
      finally -> c when outcome.status == "limit" || outcome.status == "rolled_back"`,
    "a -> b on error when error.attempts > 1\n  a -> c on error when error.attempts <= 1",
  ])("cover the values of its type: %s", (edges) => {
    expect(find(edges)).toEqual(["sound"]);
  });
  test.each([
    [`finally -> b\n  b -> c when outcome.status == "failed"`, '`outcome.status` is `"cancelled"`'],
    [`finally -> b when outcome.status != "failed"\n  b -> c`, '`outcome.status` is `"failed"`'],
  ])("NG501 names a value that it can have: %s", (edges, value) => {
    const [, ...errors] = find(edges);
    expect(errors).toEqual([expect.stringMatching(/^NG501/)]);
    expect(errors[0]).toContain(value);
  });
});
