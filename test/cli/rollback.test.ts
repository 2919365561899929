/** `ngc rollback`, and what the other commands show of a rollback. */
import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const NODES = `import { existsSync } from "node:fs";
export const reserve = (what, { idempotencyKey }) => what + " " + idempotencyKey.length;
export const cancel = (ref, { idempotencyKey }) => {
  if (existsSync("closed")) throw new Error("closed");
  console.error("cancelled " + ref + " " + idempotencyKey.slice(0, 5));
};
export const charge = () => { throw Object.assign(new Error("no money"), { retryable: false }); };
`;

const graph = (edges: string): string => `import { reserve, cancel, charge } from "./nodes.mjs"
graph trip {
  output flight: string
  node book = reserve("flight") into flight { undo cancel(flight) }
  node pay = charge()
  start -> book -> pay -> end
  ${edges}
}
`;

test("a failed thread is rolled back, and a rollback that fails can be tried again", () => {
  const project = createProject({ "trip.ngraph": graph(""), "nodes.mjs": NODES, closed: "" });
  expect(project.json(["run", "trip.ngraph", "--thread", "7"])).toMatchObject({ status: 1 });
  expect(project.json(["history", "7"]).document).toMatchObject({ openUndos: [{ task: "book", call: "cancel" }] });
  expect(project.ngc(["history", "7"]).stdout).toContain("open undo of book: cancel");
  const failed = project.json(["rollback", "7"]);
  expect(failed).toMatchObject({
    status: 1,
    document: { status: "failed", rollback: { undone: [], open: [{ task: "book", call: "cancel", error: "closed" }] } },
  });
  project.remove("closed");
  const done = project.ngc(["rollback", "7"]);
  expect(done).toMatchObject({ status: 0 });
  expect(done.stderr).toContain("cancelled flight 71 undo:");
  expect(project.json(["history", "7"]).document).not.toHaveProperty("openUndos");
  const { threads } = project.json(["threads", "--status", "rolled_back"]).document as {
    readonly threads: readonly { readonly head: string }[];
  };
  const shown = project.json(["show", threads[0]!.head]).document;
  expect(shown).toMatchObject({ status: "rolled_back", undos: [{ task: "book", call: "cancel", status: "done" }] });
  expect(project.ngc(["resume", "7"])).toMatchObject({ status: 64 });
});

test("a fork from before a rollback names the results that it has undone", () => {
  const project = createProject({ "trip.ngraph": graph(""), "nodes.mjs": NODES });
  project.ngc(["run", "trip.ngraph", "--thread", "7"]);
  const { checkpoints } = project.json(["history", "7"]).document as {
    readonly checkpoints: readonly { readonly id: string }[];
  };
  const [failed, booked, input] = checkpoints.map(({ id }) => id);
  expect(project.json(["fork", "7", "--from", booked!, "--as", "8"]).document).not.toHaveProperty("undone");
  project.ngc(["rollback", "7"]);
  for (const [at, from] of [failed!, booked!].entries()) {
    const forked = project.json(["fork", "7", "--from", from, "--as", `9${at}`]);
    expect(forked.document).toMatchObject({ undone: [{ task: "book", call: "cancel" }] });
  }
  expect(project.ngc(["fork", "7", "--from", booked!]).stderr).toContain(
    "warning: a rollback has undone results of this checkpoint, which its values still have: `book`",
  );
  expect(project.json(["fork", "7", "--from", input!]).document).not.toHaveProperty("undone");
  expect(project.json(["fork", "7"]).document).not.toHaveProperty("undone");
  const resumed = project.ngc(["resume", "7", "--from", booked!]);
  expect(resumed.stderr).toContain("a rollback has undone results of this checkpoint");
  // The undo is not repeated: the log of the thread has it (R6).
  expect(project.json(["rollback", "7"]).document).toMatchObject({ rollback: { undone: [], open: [] } });
});

test("a run that rolls back ends with exit code 1", () => {
  const text = graph("pay -> rollback on error");
  const project = createProject({ "trip.ngraph": text, "nodes.mjs": NODES });
  expect(project.json(["run", "trip.ngraph", "--thread", "7"])).toMatchObject({
    status: 1,
    document: { status: "rolled_back", error: null, rollback: { undone: [{ task: "book" }], open: [] } },
  });
  expect(project.ngc(["graph", "trip.ngraph"]).stdout).toContain("rollback");
});
