import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { createProject, type Document, type Project } from "./project.ts";

const FILES = {
  "l.ngraph": `import { most } from "./nodes.ts"

graph l {
  output verdict: "a" | "b"
  output notes: string[]
  state log: string[] = [] reduce append
  state top: int = 0 reduce most

  node one = ["one"] into log
  node sure = ask(\`top \${top}?\`) into verdict
  node two = log into notes

  start -> one -> sure -> two
}
`,
  "nodes.ts": "export const most = (a: number, b: number): number => Math.max(a, b);\n",
};

function paused(): Project {
  const project = createProject(FILES);
  expect(project.ngc(["run", "l.ngraph", "--thread", "t"]).status).toBe(3);
  return project;
}

/** Gives the head of a thread a time to live that has passed. */
function expire(project: Project, thread: string): void {
  const store = new SqliteStore(join(project.directory, ".ngraph/runs.db"));
  const { values, versions, ...head } = store.loadLatest(thread)!;
  const claim = store.claim(thread, { owner: "test", leaseMs: 1000 });
  const header = { ...head, id: "last", parentId: head.id, ttl: 1, timestamp: 1 };
  const snapshot = () => ({ values, versions });
  store.save(claim, { header, changes: [], snapshot, expectedHead: head.id, releaseClaim: true });
  store.close();
}

const chain = (project: Project, thread = "t"): Document[] => project.json(["history", thread]).document.checkpoints;

test("a fork and an edit of a run that is over print how to continue it, and no command that is refused", () => {
  const project = paused();
  const fork = project.ngc(["fork", "t", "--as", "waiting"]);
  expect(fork.stderr).toContain("resume with: ngc resume waiting\n");
  expect(project.ngc(["resume", "t", "--answer", "a"]).status).toBe(0);
  expect(project.ngc(["fork", "t", "--as", "over"]).stderr).toBe(
    "the run is over, so there is nothing to resume; with --at, a fork continues at a node\n",
  );
  expect(project.ngc(["update", "t", '{"notes": ["x"]}']).stderr).toBe(
    "the run is over, so there is nothing to resume; with --as, it continues as if a node had written the values\n",
  );
  expect(project.ngc(["update", "t", '{"verdict": "b"}', "--as", "sure"]).stderr).toBe("resume with: ngc resume t\n");
  expect(project.ngc(["resume", "t"])).toMatchObject({ status: 0 });
});

test("5.9: a label names a checkpoint for --from and show, and can be moved", () => {
  const project = paused();
  const [head, before] = chain(project);
  const { status, document } = project.json(["label", "t", "here"]);
  expect({ status, document }).toEqual({
    status: 0,
    document: { version: 1, thread: "t", label: "here", checkpoint: head.id },
  });
  expect(project.ngc(["resume", "t", "--answer", "a"]).status).toBe(0);
  const again = project.json(["resume", "t", "--from", "here", "--answer", "b"]).document;
  expect(again.output).toEqual({ verdict: "b", notes: ["one"] });
  // The list contains the branch that the fork has left, and marks it.
  const abandoned = chain(project).filter((checkpoint) => checkpoint.abandoned === true);
  expect(abandoned).toMatchObject([{ status: "completed", ran: ["two"] }, { ran: ["sure"] }]);
  expect(project.ngc(["history", "t"]).stdout).toContain("completed (abandoned)");
  expect(project.json(["label", "t", "here", "--checkpoint", before.id.slice(0, 13)]).status).toBe(0);
  expect(project.json(["show", "here"]).document.id).toBe(before.id);
  expect(project.ngc(["label", "t", " "]).status).toBe(64);
  expect(project.ngc(["label", "t", "x", "--checkpoint", "none"]).status).toBe(64);
  expect(project.ngc(["label", "nobody", "x"]).status).toBe(64);
});

test("5.9: update edits state through the reducers, alone or as a node, and runs nothing", () => {
  const project = paused();
  expect(project.ngc(["update", "t", '{"log": ["two"], "top": 5}']).status).toBe(0);
  expect(project.ngc(["update", "t", "-"], { input: '{"top": 3}' }).status).toBe(0);
  const [head] = chain(project);
  expect(head).toMatchObject({ phase: "updated", status: "paused", next: ["sure"] });
  expect(project.json(["show", head.id]).document.values).toMatchObject({ log: ["one", "two"], top: 5 });

  expect(project.ngc(["update", "t", '{"log": [], "verdict": "b"}', "--replace", "--as", "sure"]).status).toBe(0);
  expect(project.json(["resume", "t"]).document).toMatchObject({
    status: "completed",
    output: { verdict: "b", notes: [] },
  });

  const refused: readonly (readonly [args: string[], message: string])[] = [
    [['{"other": 1}'], "`other` is not a channel"],
    [['{"verdict": "c"}'], '`verdict`: expected "a" | "b"'],
    [["{}"], "nothing to change"],
    [["[1]"], "must be a JSON object"],
    [["{", "--as", "sure"], "not valid JSON"],
    [['{"top": 1}', "--as", "nobody"], "there is no node `nobody`"],
  ];
  const length = chain(project).length;
  for (const [args, message] of refused) {
    expect(project.ngc(["update", "t", ...args])).toMatchObject({
      status: 64,
      stderr: expect.stringContaining(message),
    });
  }
  expect(chain(project)).toHaveLength(length);
});

describe("deleting stored data", () => {
  test("prune keeps the newest and those with a label", () => {
    const project = paused();
    const before = chain(project);
    const oldest = before.at(-1).id;
    project.ngc(["label", "t", "start", "--checkpoint", oldest]);
    expect(project.ngc(["prune", "t"]).status).toBe(64);
    expect(project.ngc(["prune", "t", "--keep-last", "0"]).status).toBe(64);
    expect(project.json(["prune", "t", "--keep-last", "1", "--older-than", "1"]).document.pruned).toEqual([
      { thread: "t", checkpoints: 0 },
    ]);
    expect(project.json(["prune", "t", "--keep-last", "1"]).document.pruned).toEqual([
      { thread: "t", checkpoints: before.length - 2 },
    ]);
    expect(project.json(["show", "start"]).document.id).toBe(oldest);
    expect(project.json(["prune", "t", "--keep-last", "1", "--labelled"]).document.pruned[0].checkpoints).toBe(1);
    expect(project.json(["resume", "t", "--answer", "a"]).document.output.notes).toEqual(["one"]);
  });

  test("an interrupted prune reports what it has deleted", async () => {
    const project = paused();
    const store = new SqliteStore(join(project.directory, ".ngraph/runs.db"));
    const { values, versions, ...head } = store.loadLatest("t")!;
    const count = 600;
    for (let at = 0; at < count; at++) {
      const threadId = `old${at}`;
      const claim = store.claim(threadId, { owner: "test", leaseMs: 60_000 });
      const header = { ...head, id: "first", threadId, parentId: null, ttl: 1, timestamp: 1 };
      const snapshot = () => ({ values, versions });
      store.save(claim, { header, changes: [], snapshot, expectedHead: null, releaseClaim: true });
    }
    const left = (): number => store.threads({ limit: count + 1 }).length - 1;
    const child = project.start(["prune", "--expired"]);
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    const end = once(child, "close");
    await expect.poll(left, { interval: 5, timeout: 30_000 }).toBeLessThan(count);
    child.kill("SIGINT");
    expect(await end).toEqual([130, null]);
    expect(stdout.match(/: deleted$/gm)).toHaveLength(count - left());
    store.close();
  });

  test("prune --expired deletes expired threads, and --all prunes every thread", () => {
    const project = createProject(FILES);
    for (const thread of ["t", "u"]) expect(project.ngc(["run", "l.ngraph", "--thread", thread]).status).toBe(3);
    const args = ["prune", "--expired"];
    expect(project.ngc(args)).toMatchObject({ status: 0, stderr: expect.stringContaining("no expired threads") });
    expire(project, "t");
    expect(project.json([...args, "--dry-run"])).toEqual({
      status: 0,
      document: { version: 1, pruned: [], dryRun: true, deleted: ["t"], held: 0 },
    });
    expect(project.ngc([...args, "--limit", "1"]).stdout).toBe("thread t: deleted\n");
    expect(project.json(["prune", "--all", "--keep-last", "1"]).document).toMatchObject({
      pruned: [{ thread: "u", checkpoints: 2 }],
      held: 0,
    });
    for (const wrong of [
      ["u", "--expired"],
      ["--expired", "--keep-last", "1"],
      ["--all"],
      ["--all", "--keep-last", "1", "--dry-run"],
    ])
      expect(project.ngc(["prune", ...wrong])).toMatchObject({ status: 64 });
  });

  test("delete removes all named threads, or none", () => {
    const project = paused();
    project.ngc(["fork", "t", "--as", "u"]);
    expect(project.ngc(["delete", "t", "nobody"])).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("there is no thread `nobody`"),
    });
    expect(project.json(["threads"]).document.threads).toHaveLength(2);
    expect(project.json(["delete", "t", "u"])).toEqual({ status: 0, document: { version: 1, deleted: ["t", "u"] } });
    expect(project.json(["threads"]).document.threads).toEqual([]);
  });
});

test("threads of plans cannot be forked or edited; the message has the alternative", () => {
  const project = createProject({ "p.ngraph": 'plan p {\n  task a = shell("true")\n}\n' });
  expect(project.ngc(["run", "p.ngraph", "--thread", "p"]).status).toBe(0);
  for (const args of [
    ["fork", "p"],
    ["update", "p", '{"x": 1}'],
  ]) {
    const { status, stderr } = project.ngc(args);
    expect(status).toBe(64);
    expect(stderr).toMatch(/thread `p` is a run of a plan[\s\S]*--from-task/);
  }
});

test("show prints the values of all channels; unwritten channels have their initial values", () => {
  const project = paused();
  const [head] = chain(project);
  const { values, changes } = project.json(["show", head.id]).document;
  expect({ values, changes }).toEqual({ values: { verdict: null, notes: null, log: ["one"], top: 0 }, changes: {} });
  expect(project.json(["show", head.parent]).document.changes).toEqual({ log: { before: [], after: ["one"] } });
  // Of another graph nothing is known but what was stored.
  project.write("l.ngraph", project.read("l.ngraph").replace("int = 0", "int = 9"));
  expect(project.json(["show", head.id]).document.values).toEqual({ log: ["one"] });
});

describe("flags of runs and edits", () => {
  const CALLING = `graph review { state note: string = "none"  output verdict: "a" | "b" = "a"
    node sure = ask(note) into verdict  start -> sure }
  graph job { config model: string = "small"  output log: string[] = [] reduce append  output verdict: "a" | "b" = "a"
    node draft = \`draft by \${model}\` into log  node check = review() into { verdict: verdict }
    node done = \`done \${verdict} by \${model}\` into log  start -> draft -> check -> done }
  `;

  test("--pause-before and --pause-after are breakpoints of one call, in called graphs too", () => {
    const project = createProject({ "job.ngraph": CALLING });
    const run = ["run", "job.ngraph", "--thread", "t"];
    const kinds = ({ document }: { document: Document }): unknown =>
      document.pauses.map(({ kind, node, namespace }: Document) => [kind, ...namespace, node].join(" "));
    const flags = ["--pause-after", "draft", "--pause-before", "check/sure"];
    expect(kinds(project.json([...run, ...flags]))).toEqual(["after draft"]);
    // A breakpoint belongs to the call that names it.
    expect(kinds(project.json(["resume", "t", "--pause-before", "check/sure"]))).toEqual(["before check sure"]);
    expect(kinds(project.json(["resume", "t"]))).toEqual(["interrupt check sure"]);
    expect(project.json(["resume", "t", "--answer", "b"]).document).toMatchObject({
      status: "completed",
      output: { log: ["draft by small", "done b by small"] },
    });
    const wrong = project.ngc(["run", "job.ngraph", "--pause-before", "chekc"]);
    expect(wrong).toMatchObject({ status: 64, stderr: expect.stringContaining("chekc") as string });
  });

  test("update --in edits a called graph, update --config the configuration, and resume --at chooses the node", () => {
    const project = createProject({ "job.ngraph": CALLING });
    expect(project.ngc(["run", "job.ngraph", "--thread", "t"]).status).toBe(3);
    expect(project.ngc(["update", "t", '{"note": "why?"}', "--in", "check"]).status).toBe(0);
    expect(project.ngc(["update", "t", '{"note": "why?"}', "--in", "chekc"])).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("the unfinished ones are `check`") as string,
    });
    expect(project.ngc(["update", "t", "{}"]).status).toBe(64);
    expect(project.ngc(["update", "t", "{}", "--config", "model=big"]).status).toBe(0);
    expect(project.ngc(["update", "t", "{}", "--config", "modle=big"])).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("did you mean `model`") as string,
    });
    const head = project.json(["history", "t", "--limit", "1"]).document.checkpoints[0].id as string;
    expect(project.json(["resume", "t", "--from", head, "--at", "done"]).document).toMatchObject({
      status: "completed",
      output: { log: ["draft by small", "done a by big"] },
    });
    expect(project.ngc(["resume", "t", "--from", head, "--at", "nowhere"]).status).not.toBe(0);
  });
});
