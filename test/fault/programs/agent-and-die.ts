/**
 * Runs an agent whose model calls tools, in the store at argv[2], with the table in the file argv[3], the ledger of its tools argv[4]
 * and the model server argv[6]. It kills itself at point argv[5] of its store, and prints the points and the reply at the end.
 */
import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { createEngine } from "../../../api/create-engine.ts";
import type { NodeContext } from "../../../runtime/interface/context.ts";
import type { Table } from "../../../runtime/table/table.ts";
import { createLlm } from "../../../stdlib/nodes/llm.ts";
import { type KillPoint, watchPoints } from "../kill-points.ts";
import { openStore } from "../kill-store.ts";

const [place, tableFile, ledger, dieAt, baseUrl] = process.argv.slice(2) as [string, string, string, string, string];
const points: KillPoint[] = [];
watchPoints(place, (point) => {
  if (points.length === Number(dieAt)) process.kill(process.pid, "SIGKILL");
  points.push(point);
});
const note = (call: string, { idempotencyKey }: NodeContext): void =>
  appendFileSync(ledger, `${JSON.stringify({ call, key: idempotencyKey })}\n`);
const require = createRequire(import.meta.url);
const llm = createLlm({
  baseUrl,
  model: "m",
  load: (name: string) => import(pathToFileURL(require.resolve(name)).href),
});
const store = openStore(place);
const engine = createEngine(JSON.parse(readFileSync(tableFile, "utf8")) as Table, {
  store,
  builtins: { llm },
  functions: {
    find: (id: string, context: NodeContext) => {
      note(`find ${id}`, context);
      return { amount: 5 };
    },
    pay: (id: string, context: NodeContext) => {
      note(`refund ${id}`, context);
      return "paid";
    },
  },
});
const state = await engine.state("agent");
// The kill after the last commit finds a complete run.
const run = (): ReturnType<typeof engine.run> =>
  state === undefined ? engine.run({ question: "Refund b" }, { thread: "agent" }) : engine.resume("agent");
const reply = state?.status === "completed" ? state.state["reply"] : (await run()).output["reply"];
await store.close();
writeSync(1, `${JSON.stringify({ points, output: { reply } })}\n`);
