/**
 * A worker that runs the graph in the file argv[3] on the Restate server at argv[2]. Its functions append a line for each start and each
 * end of a body to the file argv[4]. It prints its port.
 */
import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { serveRestate } from "../../../api/hosts/restate.ts";
import type { NodeContext } from "../../../runtime/interface/context.ts";
import type { Table } from "../../../runtime/table/table.ts";

const [address, tableFile, ledger] = process.argv.slice(2) as [string, string, string];
const table = JSON.parse(readFileSync(tableFile, "utf8")) as Table;

async function recorded(name: string, result: unknown, ms: number, { idempotencyKey }: NodeContext): Promise<unknown> {
  const line = (what: string): void => appendFileSync(ledger, `${what} ${process.pid} ${name} ${idempotencyKey}\n`);
  line("start");
  await new Promise((resolve) => setTimeout(resolve, ms));
  line("end");
  return result;
}

const functions = {
  begin: (n: number, context: NodeContext) => recorded("begin", n, 5, context),
  work: (n: number, context: NodeContext) => recorded(`work-${n}`, n * n, 15, context),
  branch: (name: string, context: NodeContext) => recorded(`branch-${name}`, name, 10, context),
  finish: (n: number, context: NodeContext) => recorded("finish", n, 5, context),
  book: (what: string, context: NodeContext) => recorded(`book-${what}`, what, 5, context),
  cancel: (what: string, context: NodeContext) => recorded(`cancel-${what}`, null, 5, context),
  pay: async (isBroke: boolean, context: NodeContext) => {
    await recorded("pay", null, 5, context);
    if (isBroke) throw Object.assign(new Error("no money"), { retryable: false });
    return "paid";
  },
};
const known = Object.fromEntries(
  Object.entries(functions).filter(([name]) => JSON.stringify(table).includes(`"${name}"`)),
);
const worker = await serveRestate({ tables: [table], functions: known, restate: address });
writeSync(1, `${await worker.listen(0)}\n`);
process.once("SIGTERM", () => void worker.close().then(() => process.exit(0)));
