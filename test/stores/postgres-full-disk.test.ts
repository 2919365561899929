/** The disk of the server is full during a run: an error with a remedy, and a resume when there is space again. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { engineOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";

const GRAPH = `graph g { output log: string[] reduce append  output big: string
  node a = work("a") into log  node b = work("b") into log  node c = large() into big  node d = work("d") into log
  start -> a -> b -> c -> d }`;
/** Random, so that compression does not make it fit. */
const NOISE = Array.from({ length: 600_000 }, (_, index) => Math.sin(index).toString(36).slice(4, 14)).join("");

it("a full disk", { timeout: 300_000 }, async () => {
  const disk = smallDisk();
  // Creating a small disk needs root. Without it, the server has a limit for the size of its files, which has the same
  // effect.
  const server = await PostgresServer.start(disk === undefined ? { fileBlocks: 4096 } : { directory: disk });
  const store = new PostgresStore({ url: server.url, connections: 2 });
  try {
    const ran: string[] = [];
    const functions = {
      work: (name: string) => {
        ran.push(name);
        if (name === "b" && disk !== undefined) fillUp(join(disk, "ballast"));
        return name;
      },
      large: () => {
        ran.push("c");
        return NOISE;
      },
    };
    const engine = engineOf(GRAPH, functions, { store });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      // Without room for its log, a server ends all connections.
      message: expect.stringMatching(/run out of disk space|see its log|ended the connection|cannot be reached/),
    });
    const before = [...ran];
    if (disk === undefined) await server.stop("SIGQUIT");
    else rmSync(join(disk, "ballast"));
    await running(server);
    const head = await store.loadLatest("t");
    const log = head?.values["log"] as string[];
    expect(before.slice(0, log.length)).toEqual(log);
    expect(before.length - log.length).toBeLessThan(2);
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { log: ["a", "b", "d"], big: NOISE },
    });
    expect(ran).toEqual([...before, ...["a", "b", "c", "d"].slice(log.length)]);
  } finally {
    await store.close();
    await server.dispose();
    if (disk !== undefined) {
      execFileSync("umount", [disk]);
      rmSync(disk, { recursive: true });
    }
  }
});

/** A separate small disk; `undefined` without the rights to create it. */
function smallDisk(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=96m", "tmpfs", directory], { stdio: "ignore" });
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
}

function fillUp(path: string): void {
  const file = openSync(path, "w");
  for (const size of [1 << 20, 4096]) {
    const block = Buffer.alloc(size);
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  }
  closeSync(file);
}

/** A server without space for its log has crashed; it restarts by itself, or the test starts it again. */
async function running(server: PostgresServer): Promise<void> {
  for (;;) {
    if (server.isGone) await server.start();
    try {
      await server.query("SELECT 1");
      return;
    } catch {
      // It restarts by itself.
    }
  }
}
