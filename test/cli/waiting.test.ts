/** `ngc signal`, `ngc resume --due`, and what waits until when. */
import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const GRAPH = `graph delivery {
  input  order: string
  output parcel: { weight: float }
  output log: string[] reduce append

  node approve = ask(\`Send \${order}?\`) into log { within 1s }
  node picked  = receive("picked_up") into parcel { within 30d }
  node late    = error?.code ?? "" into log

  start -> approve -> picked
  approve -> late on error
  late -> picked
}
`;

test("a deadline that has passed, and a signal, let `ngc resume --due` continue a thread", async () => {
  const project = createProject({ "delivery.ngraph": GRAPH });
  const started = project.json(["run", "delivery.ngraph", "--thread", "7", "--input", '{"order":"7"}']);
  expect(started).toMatchObject({ status: 3, document: { pauses: [{ kind: "interrupt", due: expect.any(Number) }] } });
  const listed = project.ngc(["threads"]);
  expect(listed.stdout).toMatch(/7 +paused until \d{4}-/);
  expect(project.json(["signal", "7", "picked_up", '{"weight": 2}', "--id", "a"])).toMatchObject({
    status: 0,
    document: { thread: "7", name: "picked_up", id: "a", added: true, awaited: false },
  });
  expect(project.json(["signal", "7", "picked_up", "1", "--id", "a"])).toMatchObject({
    status: 0,
    document: { added: false },
  });
  // Polls, because the deadline is that of the real clock.
  const documents: unknown[] = [];
  for (let tries = 0; tries < 100; tries++) {
    const { document } = project.json(["resume", "--due"]);
    documents.push(document);
    if (JSON.stringify(document).includes("completed")) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(documents.at(-1)).toMatchObject({ resumed: [{ thread: "7", status: "completed" }], failed: [] });
  const { threads } = project.json(["threads"]).document as { readonly threads: readonly { readonly head: string }[] };
  const shown = project.json(["show", threads[0]!.head]);
  expect(JSON.stringify(shown.document)).toContain('"parcel":{"weight":2}');
  expect(JSON.stringify(shown.document)).toContain('"log":["NG_NODE_TIMEOUT"]');
  expect(project.ngc(["resume", "--due"]).stderr).toContain("no due threads");
});

test("wrong uses are refused", () => {
  const project = createProject({ "delivery.ngraph": GRAPH });
  project.json(["run", "delivery.ngraph", "--thread", "7", "--input", '{"order":"7"}']);
  expect(project.ngc(["signal", "8", "picked_up"])).toMatchObject({ status: 64 });
  expect(project.ngc(["resume", "7", "--due"]).stderr).toContain("they take no thread");
  expect(project.ngc(["resume", "--due", "--interrupted"]).stderr).toContain("exclude each other");
  expect(project.ngc(["resume", "--due", "--answer", "x"]).stderr).toContain("--due answers no pause");
});

test("a signal that no node waits for is reported with those that the thread waits for", () => {
  const project = createProject({
    "g.ngraph": 'graph g {\n  output x: int\n  node a = receive("picked_up") into x\n  start -> a\n}\n',
  });
  expect(project.ngc(["run", "g.ngraph", "--thread", "t"]).stdout).toContain(
    "\nthen, continue with: ngc resume --due\n",
  );
  expect(project.ngc(["signal", "t", "pickedup", "1"]).stderr).toBe(
    "no node waits for it yet; the thread waits for `picked_up`\n",
  );
  expect(project.ngc(["signal", "t", "picked_up", "1"]).stderr).toBe("a node waits for it: ngc resume --due\n");
  expect(project.ngc(["rollback", "t"]).stderr).toMatch(/^rolling back thread t\n/);
});
