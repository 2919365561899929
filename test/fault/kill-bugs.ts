/**
 * Mistakes that only a killed process shows: without a kill, each of these engines returns the right result. See
 * `planted-bugs.ts`.
 */
import { after, before, mutation, swap } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";

const CONNECTION = "stores/sqlite/connection.ts";
const RESTORE = "checkpoint/restore-run.ts";

export const KILL_BUGS: readonly PlantedBug[] = [
  {
    name: "every statement of a transaction commits by itself",
    edits: [
      mutation(CONNECTION, "begin-transaction", `if (begin === "BEGIN") this.run(begin);`),
      mutation(CONNECTION, "commit-transaction", `if (begin === "BEGIN") this.run("COMMIT");`),
    ],
  },
  {
    name: "the store reports a write before it commits it",
    edits: [
      mutation(
        CONNECTION,
        "begin-transaction",
        before(`const state = globalThis as { left?: boolean };
          if (state.left === true) this.run("COMMIT");
          state.left = false;`),
      ),
      mutation(
        CONNECTION,
        "commit-transaction",
        `if (begin === "BEGIN") this.run("COMMIT"); else (globalThis as { left?: boolean }).left = true;`,
      ),
      mutation(
        CONNECTION,
        "close-database",
        after(`if ((globalThis as { left?: boolean }).left === true) this.run("COMMIT");`),
      ),
    ],
  },
  {
    name: "the claim of a dead process has to run out",
    edits: [
      mutation(
        "stores/contract/thread-row.ts",
        "dead-owner",
        swap(`!hasExited({ host, pid, started: started ?? "" })`, `true`),
      ),
    ],
  },
  {
    name: "a resume does not look at pending writes",
    edits: [mutation(RESTORE, "restored-results", `run.stored = undefined;`)],
  },
  {
    name: "barriers are not restored",
    edits: [mutation(RESTORE, "restored-barriers", `void [names, barrier];`)],
  },
  {
    name: "an item that was sent is not restored",
    edits: [mutation(RESTORE, "restored-sends", swap("head.pendingSends", "head.pendingSends.slice(1)"))],
  },
  {
    name: "every resume starts a called graph again",
    edits: [mutation("step/stored-call.ts", "round-of-call", `return false;`)],
  },
  {
    name: "every resume starts the `finally` part again",
    edits: [mutation("step/stored-finally.ts", "continued-finally", swap("called === undefined", "called !== null"))],
  },
  {
    name: "idempotency keys depend on the process",
    edits: [
      mutation("step/task-context.ts", "idempotency-key", (code) => {
        const own = `get idempotencyKey(): string { return this.trueKey.replace(/.{7}$/, String(process.pid).padStart(7, "0")); }`;
        return `${own} ${swap("get idempotencyKey", "get trueKey")(code)}`;
      }),
    ],
  },
];
