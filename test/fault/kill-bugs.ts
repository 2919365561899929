/**
 * Mistakes that show only when a process is killed: without a kill, each of these engines gives the right end. See
 * `planted-bugs.ts`.
 */
import { edit, type PlantedBug } from "./planted-bugs.ts";

export const KILL_BUGS: readonly PlantedBug[] = [
  {
    name: "a transaction is several: every statement commits by itself",
    edits: [
      edit(
        "stores/sqlite/connection.ts",
        `      this.run(begin);\n`,
        `      if (begin === "BEGIN") this.run(begin);\n`,
      ),
      edit(
        "stores/sqlite/connection.ts",
        `      this.run("COMMIT");\n`,
        `      if (begin === "BEGIN") this.run("COMMIT");\n`,
      ),
    ],
  },
  {
    name: "the store says that it has what it has not committed yet",
    edits: [
      edit(
        "stores/sqlite/connection.ts",
        `      this.run(begin);\n`,
        `      const state = globalThis as { left?: boolean };
      if (state.left === true) this.run("COMMIT");
      state.left = false;
      this.run(begin);\n`,
      ),
      edit(
        "stores/sqlite/connection.ts",
        `      this.run("COMMIT");\n`,
        `      if (begin === "BEGIN") this.run("COMMIT"); else (globalThis as { left?: boolean }).left = true;\n`,
      ),
      edit(
        "stores/sqlite/connection.ts",
        `    this.#closed = true;\n`,
        `    this.#closed = true;
    if ((globalThis as { left?: boolean }).left === true) this.run("COMMIT");\n`,
      ),
    ],
  },
  {
    name: "the claim of a dead process has to run out",
    edits: [edit("stores/contract/thread-row.ts", `!hasExited({ host, pid, started: started ?? "" })`, `true`)],
  },
  {
    name: "a resume does not look at pending writes",
    edits: [
      edit("thread/restore-run.ts", `run.stored = stored.size === 0 ? undefined : stored;`, `run.stored = undefined;`),
    ],
  },
  {
    name: "barriers are not restored",
    edits: [
      edit(
        "thread/restore-run.ts",
        `for (const name of names) run.barriers.signal(barrier, node(name));`,
        `void [names, barrier];`,
      ),
    ],
  },
  {
    name: "what was sent is not restored",
    edits: [
      edit(
        "thread/restore-run.ts",
        `run.sends = head.pendingSends.map(`,
        `run.sends = head.pendingSends.slice(1).map(`,
      ),
    ],
  },
  {
    name: "a called graph begins anew on every resume",
    edits: [edit("step/call-graph.ts", `if (round === null) return false;`, `return false;`)],
  },
  {
    name: "keys belong to the process",
    edits: [
      edit(
        "step/task-context.ts",
        `get idempotencyKey(): string {`,
        `get idempotencyKey(): string {
          return this.trueKey.replace(/.{7}$/, String(process.pid).padStart(7, "0"));
        }
        get trueKey(): string {`,
      ),
    ],
  },
];
