/**
 * Drives the run of `kill-graph.ts` in the store at argv[2] (see `kill-store.ts`), with the table in the file argv[3]
 * and the ledger argv[4], and kills itself at point argv[5]. Prints the points that it has passed when it ends.
 *
 * With a directory as argv[6] it takes a picture of its files at every point, and kills itself at the end (see `kill-pictures.ts`).
 */
import { readFileSync, writeSync } from "node:fs";
import type { Table } from "../../../runtime/index.ts";
import { driveToEnd, killEngines } from "../kill-graph.ts";
import { noting } from "../kill-ledger.ts";
import { takePictures } from "../kill-pictures.ts";
import { type KillPoint, watchPoints } from "../kill-points.ts";
import { openStore } from "../kill-store.ts";

const [place, tableFile, ledger, dieAt, pictures] = process.argv.slice(2) as [string, string, string, string, string?];
const points: KillPoint[] = [];
const camera = pictures === undefined ? undefined : takePictures(place, ledger, pictures);
watchPoints(place, (point) => {
  camera?.take();
  if (points.length === Number(dieAt)) process.kill(process.pid, "SIGKILL");
  points.push(point);
});
const store = openStore(place);
await driveToEnd(killEngines(JSON.parse(readFileSync(tableFile, "utf8")) as Table, noting(store, ledger), ledger));
if (camera !== undefined) {
  camera.develop();
  process.kill(process.pid, "SIGKILL");
}
await store.close();
const report = `${JSON.stringify(points)}\n`;
for (let written = 0; written < report.length;) written += writeSync(1, report.slice(written));
