/** The code of the extension in a small stand-in for the editor: pictures, test explorer and tasks. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createEditor, loadExtension, type Item, type Uri } from "./fake-editor.ts";

afterEach(() => {
  vi.useRealTimers();
});

interface Previews {
  show(uri: Uri, name?: string): Promise<void>;
  mark(uri: Uri, graph: string, nodes: readonly string[]): void;
  dispose(): void;
}

test("a picture follows the text, marks the nodes of a run, and jumps to the line of a node", async () => {
  const editor = createEditor("/p");
  const { Previews: Pictures } = (await loadExtension(editor.vscode, ["preview.ts"])) as unknown as {
    readonly Previews: new (extension: Uri, services: object) => Previews;
  };
  let answer: object = { name: "g", svg: "<svg/>" };
  let run: object | null = null;
  const answered: unknown[] = [];
  const previews = new Pictures(editor.uriOf("/extension"), {
    picture: () => Promise.resolve(answer),
    run: () => Promise.resolve(run),
    answer: (_uri: Uri, thread: string, questions: unknown) => Promise.resolve(answered.push([thread, questions])),
  });
  const uri = editor.uriOf("/p/a.ngraph");

  vi.useFakeTimers();
  // Without a name it is the first graph; a second request shows the same panel.
  await previews.show(uri);
  await previews.show(uri, "g");
  const [panel, ...others] = editor.panels;
  if (panel === undefined) throw new Error("there is no panel");
  expect([panel.title, panel.revealed, others]).toEqual(["g", 1, []]);
  expect(panel.webview.html).toContain("preview.js");
  panel.receive({ kind: "ready" });
  await vi.waitFor(
    () =>
      expect(panel.posted).toEqual([
        { kind: "picture", svg: "<svg/>" },
        { kind: "run", text: "", nodes: [], asks: false },
      ]),
    { timeout: 90_000 },
  );

  previews.mark(uri, "g", ["a", "b"]);
  previews.mark(uri, "other", ["c"]);
  expect(panel.posted.slice(2)).toEqual([
    {
      kind: "run",
      text: "test",
      nodes: [
        { name: "a", state: "done", count: 0 },
        { name: "b", state: "done", count: 0 },
      ],
      asks: false,
    },
  ]);

  // Several changes lead to one picture, and the nodes of the last run are no longer those of the text.
  answer = { name: "g", message: "the file has errors" };
  for (let change = 0; change < 3; change++) editor.changed({ document: { uri } });
  editor.changed({ document: { uri: editor.uriOf("/p/other.ngraph") } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(panel.posted.slice(3)).toEqual([{ kind: "message", message: "the file has errors" }]);

  // A run that another process starts lights up, asks, and is shown to its end; the next change of the text removes it.
  const posted = async (): Promise<unknown> => {
    await vi.advanceTimersByTimeAsync(600);
    return panel.posted.splice(0);
  };
  await posted();
  const nodes = [{ name: "a", state: "running", count: 0 }];
  run = { id: "t 1", thread: "t", status: "running", text: "running", isOver: false, nodes, questions: [] };
  expect(await posted()).toEqual([{ kind: "run", text: "thread t: running", nodes, asks: false }]);
  expect(await posted()).toEqual([]);
  panel.receive({ kind: "answer" });
  const questions = [{ id: "a@1", node: "a", question: "Which?", choices: ["x"] }];
  run = { ...run, status: "paused", text: "paused", questions };
  expect(await posted()).toEqual([{ kind: "run", text: "thread t: paused", nodes, asks: true }]);
  panel.receive({ kind: "answer" });
  expect(answered).toEqual([["t", questions]]);
  panel.visible = false;
  run = { ...run, status: "completed", text: "completed", isOver: true, questions: [] };
  expect(await posted()).toEqual([]);
  panel.visible = true;
  expect(await posted()).toEqual([{ kind: "run", text: "thread t: completed", nodes, asks: false }]);
  answer = { name: "g", svg: "<svg/>" };
  editor.changed({ document: { uri } });
  expect(await posted()).toEqual([
    { kind: "picture", svg: "<svg/>" },
    { kind: "run", text: "", nodes: [], asks: false },
  ]);
  vi.useRealTimers();

  editor.symbols.push({
    name: "g",
    selectionRange: "of g",
    children: [{ name: "a", selectionRange: "of a", children: [] }],
  });
  panel.receive({ kind: "jump", node: "a" });
  panel.receive({ kind: "jump", node: "start" });
  panel.receive({ kind: "run", node: "a" });
  await expect
    .poll(() => editor.shown)
    .toEqual([
      [uri.toString(), { viewColumn: 1, selection: "of a" }],
      [uri.toString(), { viewColumn: 1, selection: "of g" }],
    ]);

  // A closed panel is made again.
  panel.close();
  await previews.show(uri, "g");
  expect(editor.panels).toHaveLength(2);
  previews.dispose();
});

interface TestExplorer {
  runFile(uri: Uri, title?: string): Promise<void>;
  dispose(): void;
}

test(
  "the test explorer finds the tests of the lenses, and reports what `ngc test` says",
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ngraph-explorer-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // A program that prints the document of two tests, and its arguments.
    const program = join(folder, "ngc.cjs");
    const failures = [{ message: "was 1", line: 3, column: 5 }];
    const tests = [
      { title: "one", graph: "g", ok: true, steps: [["a"], ["b", "a"]], failures: [] },
      { title: "two", graph: "g", ok: false, steps: [["a"]], failures },
    ];
    writeFileSync(
      program,
      `require("node:fs").writeFileSync(__dirname + "/args", process.argv.slice(2).join(" "));
console.log(${JSON.stringify(JSON.stringify({ version: 1, tests }))}); process.exitCode = 1;`,
    );
    chmodSync(program, 0o755);
    const editor = createEditor(folder, ["a.ngraph"]);
    const { TestExplorer: Explorer } = (await loadExtension(editor.vscode, ["tests.ts"])) as unknown as {
      readonly TestExplorer: new (environment: object) => TestExplorer;
    };
    let titles = ["one", "two", "three"];
    const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 4 } };
    const ran: unknown[] = [];
    const explorer = new Explorer({
      lenses: () =>
        Promise.resolve(
          titles.map((title) => ({ range, command: { command: "ngraph.test", arguments: ["", title] } })),
        ),
      program: () => ({ command: process.execPath, args: [program] }),
      ran: (_uri: Uri, graph: string, nodes: readonly string[]) => ran.push([graph, nodes]),
    });
    const { controller } = editor;
    await controller.resolveHandler?.();
    const file = controller.items.get(editor.uriOf(join(folder, "a.ngraph")).toString());
    if (file === undefined) throw new Error("the file was not found");
    expect([file.label, file.children.size]).toEqual(["a.ngraph", 0]);
    await controller.resolveHandler?.(file);
    const labels: string[] = [];
    file.children.forEach(({ label }: Item) => labels.push(label));
    expect(labels).toEqual(titles);

    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => {} }) };
    await controller.run?.({ include: [file] }, token);
    expect(editor.reports.slice(0, 3).map(([kind]) => kind)).toEqual(["started", "started", "started"]);
    expect(editor.reports.slice(3)).toMatchObject([
      ["passed", "one"],
      ["failed", "two", [{ message: "was 1", location: { args: [file.uri, { args: [2, 4] }] } }]],
      ["errored", "three", [{ message: expect.stringContaining("did not run this test") }]],
      ["end", ""],
    ]);
    expect(ran).toEqual([
      ["g", ["a", "b"]],
      ["g", ["a"]],
    ]);

    // A lens runs one test; the program does not exist.
    editor.reports.length = 0;
    await explorer.runFile(file.uri, "one");
    expect(editor.reports.map(([kind, label]) => `${kind} ${label}`)).toEqual(["started one", "passed one", "end "]);
    rmSync(program);
    editor.reports.length = 0;
    await explorer.runFile(file.uri, "one");
    expect(editor.reports[1]).toMatchObject(["errored", "one", [{ message: expect.stringContaining("ngc.cjs") }]]);

    // A file without tests leaves the explorer.
    titles = [];
    await explorer.runFile(file.uri);
    expect([editor.shown, controller.items.size]).toEqual([["The file has no `test` block."], 0]);
    explorer.dispose();
  },
);

test("tasks start `ngc` without a shell, and refuse what they do not know", async () => {
  const editor = createEditor("/p");
  const { createTaskProvider, runTask } = (await loadExtension(editor.vscode, ["tasks.ts"])) as unknown as {
    createTaskProvider(program: () => object): {
      provideTasks(): readonly { readonly args: readonly unknown[]; readonly group: string }[];
      resolveTask(task: object): { readonly args: readonly unknown[] } | undefined;
    };
    runTask(program: object, uri: Uri, name: string, input: string): { readonly args: readonly unknown[] };
  };
  const ngc = { command: "node", args: ["ngc.js"] };
  const provider = createTaskProvider(() => ngc);
  const executionOf = ({ args }: { readonly args: readonly unknown[] }): unknown => (args[4] as { args: unknown }).args;
  const provided = provider.provideTasks();
  expect(provided.map((task) => [task.args[2], task.args[5], task.group])).toEqual([
    ["check .", "$ngc", "build"],
    ["test .", "$ngc", "test"],
  ]);
  const resolved = provider.resolveTask({ definition: { type: "ngc", command: "compile", path: "a b;rm.ngraph" } });
  expect(executionOf(resolved!)).toEqual(["node", ["ngc.js", "compile", "--", "a b;rm.ngraph"]]);
  for (const definition of [
    { type: "ngc" },
    { type: "ngc", command: "rm" },
    { type: "ngc", command: "check", path: 1 },
  ])
    expect(provider.resolveTask({ definition })).toBeUndefined();
  const uri = editor.uriOf("/p/a.ngraph");
  expect(executionOf(runTask(ngc, uri, "g", ' {"q": 1} '))).toEqual([
    "node",
    ["ngc.js", "run", "--graph=g", '--input={"q": 1}', "--", "/p/a.ngraph"],
    {},
  ]);
  expect(executionOf(runTask(ngc, uri, "g", " "))).toEqual([
    "node",
    ["ngc.js", "run", "--graph=g", "--", "/p/a.ngraph"],
    {},
  ]);
});
