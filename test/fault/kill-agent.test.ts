/** An agent that is killed at statements of its store between the calls of its tools: no stored call is made twice, and none is lost. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";
import { compile, memoryHost } from "../../compiler/index.ts";
import { endsTransaction, type KillPoint } from "./kill-points.ts";
import { runProgram } from "../stores/program.ts";
import { everyNth, isSoak, stride } from "../support/depth.ts";
import { startModelServer } from "../support/model-server.ts";

const PROGRAM = new URL("programs/agent-and-die.ts", import.meta.url);
const NODES = `
export function find(id: string): { amount: number } { return { amount: 0 }; }
export function pay(id: string): string { return ""; }
`;
const GRAPH = `import { find, pay } from "./nodes.ts"
graph refund {
  input id: string
  output receipt: string
  state checked: string
  node check = \`order \${id}\` into checked
  node paid = pay(id) into receipt
  start -> check -> paid -> end
}
graph g {
  input question: string
  output reply: string
  node agent = llm(question, tools: [find, refund], maxSteps: 4) into reply
  start -> agent -> end
}
`;

test(
  "an agent that is killed at a statement of its store repeats no stored call and loses none",
  { timeout: 3_600_000 },
  async () => {
    const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-agent-"));
    const server = await startModelServer(({ body }) => {
      const results = body.messages.filter((message) => (message as { role: string }).role === "tool").length;
      const call = (name: string, id: string) => ({ id: `${name}-${id}`, name, arguments: { id } });
      if (results === 0) return { toolCalls: [call("find", "a"), call("find", "b")] };
      if (results === 2) return { toolCalls: [call("refund", "b")] };
      return { text: "done" };
    });
    try {
      const { tables } = compile(GRAPH, { path: "g.ngraph", host: memoryHost({ "nodes.ts": NODES }) });
      const tableFile = join(directory, "table.json");
      writeFileSync(tableFile, JSON.stringify(tables.get("g")));
      const run = async (name: string, dieAt: number) => {
        const program = runProgram(
          PROGRAM,
          join(directory, `${name}.db`),
          tableFile,
          join(directory, name),
          String(dieAt),
          server.openai,
        );
        const line = await program.line();
        const end = await program.ended;
        if (end !== "SIGKILL") expect(program.errors()).toBe("");
        return line === undefined ? undefined : (JSON.parse(line) as { points: KillPoint[]; output: unknown });
      };
      const callsOf = (name: string): readonly { call: string; key: string }[] =>
        existsSync(join(directory, name))
          ? readFileSync(join(directory, name), "utf8")
              .trim()
              .split("\n")
              .filter(Boolean)
              .map((line) => JSON.parse(line))
          : [];
      const whole = await run("whole", -1);
      const expected = ["find a", "find b", "refund b"];
      expect(callsOf("whole").map(({ call }) => call)).toEqual(expected);
      // Other statements leave nothing durable: a kill there leaves what a kill before the next commit leaves.
      const { points } = whole!;
      const commits = [...points.keys()].filter((at) => endsTransaction(points[at]!.sql));
      expect(commits.length).toBeGreaterThan(10);
      const chosen = isSoak ? [...points.keys()] : everyNth(commits, stride(1, 4));
      let killed = 0;
      for (const dieAt of chosen) {
        const name = `at-${dieAt}`;
        // The number of statements depends on the time that a run takes: it may end before its kill.
        if ((await run(name, dieAt)) === undefined) killed++;
        expect((await run(name, -1))?.output, name).toEqual({ reply: "done" });
        const calls = callsOf(name);
        // None is lost, and only the calls of one turn that the kill has cut off from their results are made again, with the same keys.
        expect([...new Set(calls.map(({ call }) => call))].toSorted(), name).toEqual(expected);
        expect(new Set(calls.map(({ key }) => key)).size, name).toBe(3);
        const again = [...new Set(calls.map(({ call }) => call).filter((call, at, all) => all.indexOf(call) !== at))];
        expect(calls.length, name).toBe(3 + again.length);
        expect(again.includes("refund b") && again.length > 1, name).toBe(false);
      }
      expect(killed).toBeGreaterThan(chosen.length / 2);
    } finally {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
