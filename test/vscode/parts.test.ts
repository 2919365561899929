import { join } from "node:path";
import { expect, test } from "vitest";
import { findNgc } from "../../editors/vscode/source/find-ngc.ts";
import { findSymbol } from "../../editors/vscode/source/find-symbol.ts";
import { previewPage, readPageMessage } from "../../editors/vscode/source/preview-page.ts";
import { answerArguments, NO_RUN, RunOnPicture } from "../../editors/vscode/source/shown-run.ts";
import type { WatchedRun } from "../../editor/previews.ts";
import { outcomesOf, readTestRun } from "../../editors/vscode/source/test-results.ts";

test("ngc is that of the setting, of a workspace folder, or of the search path", () => {
  const script = join("/b", "node_modules", "ngraph", "dist", "cli", "ngc.js");
  const exists = (path: string): boolean => path === script;
  expect(findNgc(" /opt/ngc ", ["/b"], exists)).toEqual({ command: "/opt/ngc", args: [] });
  expect(findNgc("/opt/ngc.js", [], exists)).toEqual({ command: "node", args: ["/opt/ngc.js"] });
  expect(findNgc("", ["/a", "/b"], exists)).toEqual({ command: "node", args: [script] });
  expect(findNgc(undefined, ["/a"], exists)).toEqual({ command: "ngc", args: [] });
});

test("results of tests are read, and other output becomes a message", () => {
  const document = {
    version: 1,
    tests: [
      { title: "a", graph: "g", ok: true, steps: [["x"], ["y", "z"]], failures: [] },
      { title: "a", graph: "g", ok: false, failures: [{ message: "no", details: ["was 1"], line: 3, column: 5 }] },
      { title: "a b", graph: "g", ok: true },
      null,
    ],
  };
  const run = readTestRun(JSON.stringify(document), "");
  if (run.kind !== "ran") throw new Error(run.message);
  expect(outcomesOf("a", run.tests)).toEqual([
    { title: "a", graph: "g", ok: true, steps: [["x"], ["y", "z"]], failures: [] },
    { title: "a", graph: "g", ok: false, steps: [], failures: [{ message: "no\nwas 1", line: 3, column: 5 }] },
  ]);
  expect(readTestRun('{ "diagnostics": [{ "code": "NG101", "message": "unknown" }] }', "")).toEqual({
    kind: "failed",
    message: "NG101: unknown",
  });
  expect(readTestRun('{ "error": { "message": "cannot read" } }', "")).toMatchObject({ message: "cannot read" });
  expect(readTestRun("", "spawn ngc ENOENT")).toMatchObject({ message: "spawn ngc ENOENT" });
  for (const text of ["", "[]", "null", "{", "1"]) expect(readTestRun(text, "").kind).toBe("failed");
});

test("a node is found in the outline of its graph", () => {
  const symbols = [
    { name: "a", children: [{ name: "n", children: [] }] },
    { name: "b", children: [{ name: "n", children: [], own: true }] },
  ];
  expect(findSymbol(symbols, "b", "n")).toBe(symbols[1]!.children[0]);
  expect(findSymbol(symbols, "b")).toBe(symbols[1]);
  expect(findSymbol(symbols, "b", "end")).toBeUndefined();
  expect(findSymbol(symbols, "c", "n")).toBeUndefined();
});

test("the page of a picture has names as text, and loads the files of the extension only", () => {
  const page = previewPage('<script>alert("x")</script>', "vscode-resource:", "vscode-resource:/a&b.js", "x.css");
  expect(page).not.toContain("<script>alert");
  expect(page).toContain("default-src &#39;none&#39;");
  expect(page).toContain('src="vscode-resource:/a&#38;b.js"');
  expect(readPageMessage({ kind: "jump", node: "n" })).toEqual({ kind: "jump", node: "n" });
  expect(readPageMessage({ kind: "answer" })).toEqual({ kind: "answer" });
  expect(readPageMessage({ kind: "ready" })).toEqual({ kind: "ready" });
  for (const value of [null, 1, {}, { kind: "jump" }, { kind: "run", node: "n" }])
    expect(readPageMessage(value)).toBeUndefined();
});

test("a picture shows runs that go on, and those that have ended before its eyes", () => {
  const runOf = (id: string, status: string): WatchedRun => ({
    id,
    thread: "t",
    status,
    text: status,
    isOver: status === "completed",
    nodes: [],
    questions: [],
  });
  const old = new RunOnPicture();
  expect([old.update(runOf("1", "completed")), old.shown]).toEqual([false, NO_RUN]);
  expect([old.update(runOf("2", "running")), old.shown.text]).toEqual([true, "thread t: running"]);
  old.change();
  expect(old.shown.text).toBe("thread t: running");
  expect([old.update(runOf("2", "completed")), old.shown.text]).toEqual([true, "thread t: completed"]);
  // A test is newer than a run that has ended; a run that goes on is newer than the test.
  old.test(["a"]);
  expect(old.shown).toMatchObject({ text: "test", nodes: [{ name: "a", state: "done" }] });
  expect(old.update(runOf("2", "completed"))).toBe(false);
  expect([old.update(runOf("3", "running")), old.shown.text]).toEqual([true, "thread t: running"]);
  // The store is deleted.
  expect([old.update(null), old.shown]).toEqual([true, NO_RUN]);
});

test("an answer is an argument that no shell reads", () => {
  const question = { id: "ask@1.a", node: "ask", question: "Which?", choices: [] };
  expect(answerArguments("--t", question, '"; rm -rf /"')).toEqual([
    "resume",
    '--answer=ask@1.a="; rm -rf /"',
    "--",
    "--t",
  ]);
});
