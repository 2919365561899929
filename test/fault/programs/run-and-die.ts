/**
 * Drives the run of `kill-graph.ts` in the store at argv[2] (see `kill-store.ts`), with the table in the file argv[3]
 * and the ledger argv[4], and kills itself at point argv[5]. There is one before every statement; with Postgres another just after
 * it was sent, before anybody has heard of the answer. Prints how many points it has passed when it ends.
 */
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { Table } from "../../../runtime/index.ts";
import { watchStatements } from "../../stores/statements.ts";
import { driveToEnd, killEngine } from "../kill-graph.ts";
import { openStore } from "../kill-store.ts";

type Query = (this: unknown, ...parameters: unknown[]) => unknown;

const [place, tableFile, ledger, dieAt] = process.argv.slice(2) as [string, string, string, string];
let points = 0;
const point = (): void => {
  if (points++ === Number(dieAt)) process.kill(process.pid, "SIGKILL");
};

if (place.startsWith("postgres:")) {
  const { Client } = createRequire(import.meta.url)("pg") as { Client: { prototype: { query: Query } } };
  const { query } = Client.prototype;
  Client.prototype.query = function (...parameters) {
    point();
    const answer = query.apply(this, parameters);
    point();
    return answer;
  };
} else {
  watchStatements(point);
}

const store = openStore(place);
await driveToEnd(killEngine(JSON.parse(readFileSync(tableFile, "utf8")) as Table, store, ledger));
await store.close();
writeSync(1, `${points}\n`);
