/** `graph.json` of kahn, imported and run: its tries, waits, conflicts and order are those of the source. */
import { describe, expect, test } from "vitest";
import { importText } from "../../importers/index.ts";
import { attemptsOf, textRunner, transitions, type Command } from "../plan/run-text.ts";

/** The nodes of a `graph.json` as a plan that runs in virtual time. The agent's command is the deliverable. */
async function runnerOf(nodes: readonly object[], commands: Readonly<Record<string, Command>> = {}) {
  const { text } = await importText(JSON.stringify({ version: 1, nodes }), "graph.json", { name: "p", module: "" });
  return textRunner(text.replaceAll("[agent, ", "").replaceAll('"], check: false', '", check: false'), commands);
}

const node = (id: string, depends_on: readonly string[] = [], rest: object = {}): object => ({
  id,
  deliverable: id,
  depends_on,
  touches: [],
  parallel_safe: true,
  done_when: [`check ${id}`],
  ...rest,
});

describe("tries", () => {
  test.each<readonly [string, object, readonly (number | undefined)[]]>([
    ["K-28: six by default", {}, [undefined, 2, 4, 8, 16, 32]],
    ["K-29: one has no wait", { max_ralph_iters: 1 }, [undefined]],
    ["K-32: two", { max_ralph_iters: 2 }, [undefined, 2]],
    ["K-32: eight", { max_ralph_iters: 8 }, [undefined, 2, 4, 8, 16, 32, 60, 60]],
  ])("%s", async (_name, rest, waits) => {
    const run = await runnerOf([node("a", [], rest)], { "check a": { codes: [1] } });
    expect(await run.run()).toMatchObject({ outcome: "catastrophic", exitCode: 1 });
    expect(attemptsOf(run.events).map(({ backoff_s }) => backoff_s)).toEqual(waits);
    expect(transitions(run.events, "a").at(-1)).toBe("running→failed max_tries_reached");
  });

  test("K-31: the checks decide, not the exit code of the agent", async () => {
    const run = await runnerOf([node("a")], { a: { codes: [7] } });
    expect(await run.run()).toMatchObject({ outcome: "clean", exitCode: 0 });
  });
});

test("K-01, K-14: order, conflicts and tasks that run alone", async () => {
  const run = await runnerOf([
    node("schema-init"),
    node("auth-service", ["schema-init"], { touches: ["src/api.ts"] }),
    node("user-service", ["schema-init"], { touches: ["src/api.ts"] }),
    node("docs", ["schema-init"], { touches: ["docs/a.md"] }),
    node("release", ["auth-service", "user-service", "docs"], { parallel_safe: false }),
    node("mail", ["auth-service", "user-service", "docs"]),
  ]);
  const result = await run.run();
  expect(result.batches).toEqual([["schema_init"], ["auth_service", "docs"], ["user_service"], ["release"], ["mail"]]);
  expect(result.outcome).toBe("clean");
});

test("K-22, A-5: a failure blocks what comes after it", async () => {
  const run = await runnerOf([node("a", [], { max_ralph_iters: 1 }), node("b", ["a"]), node("c", ["b"]), node("d")], {
    "check a": { codes: [1] },
  });
  expect(await run.run()).toMatchObject({ outcome: "stuck", exitCode: 1 });
  expect(transitions(run.events, "c")).toEqual(["pending→blocked ancestor_failed:a"]);
});
