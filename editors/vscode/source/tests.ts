/** The test explorer: each `test` block of the workspace. */
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { CodeLens } from "vscode-languageclient";
import type { Program } from "./find-ngc.ts";
import { outcomesOf, readTestRun, type TestOutcome, type TestRun } from "./test-results.ts";

const PATTERN = "**/*.{ngraph,ngraph.yaml,ngraph.yml}";
const MOST_FILES = 2_000;

/** Milliseconds without a change after which the tests of a document are read again. */
const QUIET = 500;

/** The longest output of `ngc test`, in bytes. */
const MOST_OUTPUT = 64 * 1024 * 1024;

export interface TestEnvironment {
  /** The lenses of an open document. */
  lenses(uri: vscode.Uri): Promise<readonly CodeLens[]>;
  program(): Program;
  /** Shows the nodes that ran. */
  ran(uri: vscode.Uri, graph: string, nodes: readonly string[]): void;
}

export class TestExplorer implements vscode.Disposable {
  readonly #controller: vscode.TestController;
  readonly #environment: TestEnvironment;
  readonly #subscriptions: vscode.Disposable[];
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(environment: TestEnvironment) {
    this.#environment = environment;
    this.#controller = vscode.tests.createTestController("ngraph", "ngraph");
    this.#controller.resolveHandler = async (item) => {
      if (item === undefined) await this.#findFiles();
      else if (item.uri !== undefined) await this.#read(item.uri);
    };
    this.#controller.createRunProfile(
      "Run",
      vscode.TestRunProfileKind.Run,
      async (request, token) => this.#run(request, token),
      true,
    );
    this.#subscriptions = [
      this.#controller,
      vscode.workspace.onDidOpenTextDocument((document) => {
        this.#changed(document);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        this.#changed(document);
      }),
      vscode.workspace.onDidDeleteFiles(({ files }) => {
        for (const uri of files) this.#controller.items.delete(uri.toString());
      }),
    ];
    for (const document of vscode.workspace.textDocuments) this.#changed(document);
  }

  /** Runs all tests of a file, or those with a title. */
  async runFile(uri: vscode.Uri, title?: string): Promise<void> {
    await vscode.workspace.openTextDocument(uri);
    await this.#read(uri);
    const file = this.#controller.items.get(uri.toString());
    if (file === undefined) {
      void vscode.window.showInformationMessage("The file has no `test` block.");
      return;
    }
    const wanted = title === undefined ? file : childrenOf(file).find(({ label }) => label === title);
    const source = new vscode.CancellationTokenSource();
    await this.#run(new vscode.TestRunRequest([wanted ?? file]), source.token);
    source.dispose();
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #findFiles(): Promise<void> {
    for (const uri of await vscode.workspace.findFiles(PATTERN, "**/node_modules/**", MOST_FILES)) this.#fileItem(uri);
  }

  #fileItem(uri: vscode.Uri): vscode.TestItem {
    const known = this.#controller.items.get(uri.toString());
    if (known !== undefined) return known;
    const item = this.#controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    this.#controller.items.add(item);
    return item;
  }

  #changed({ uri, languageId }: vscode.TextDocument): void {
    if (uri.scheme !== "file" || !languageId.startsWith("ngraph")) return;
    const key = uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        void this.#read(uri).catch(() => undefined);
      }, QUIET),
    );
  }

  /** Reads the tests of a file from its lenses. */
  async #read(uri: vscode.Uri): Promise<void> {
    await vscode.workspace.openTextDocument(uri);
    const tests = (await this.#environment.lenses(uri)).flatMap(({ command, range }) => {
      const title: unknown = command?.command === "ngraph.test" ? command.arguments?.[1] : undefined;
      return typeof title === "string" ? [{ title, range }] : [];
    });
    if (tests.length === 0) {
      this.#controller.items.delete(uri.toString());
      return;
    }
    const file = this.#fileItem(uri);
    file.children.replace(
      tests.map(({ title, range: { start, end } }, index) => {
        const item = this.#controller.createTestItem(`${uri.toString()}#${index}`, title, uri);
        item.range = new vscode.Range(start.line, start.character, end.line, end.character);
        return item;
      }),
    );
  }

  async #run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.#controller.createTestRun(request);
    try {
      const excluded = new Set(request.exclude);
      const byFile = new Map<vscode.TestItem, vscode.TestItem[]>();
      if (request.include === undefined) await this.#findFiles();
      for (const item of request.include ?? childrenOf(this.#controller)) {
        const file = item.parent ?? item;
        if (item === file && file.children.size === 0 && file.uri !== undefined) await this.#read(file.uri);
        const items = (item === file ? childrenOf(file) : [item]).filter((each) => !excluded.has(each));
        byFile.set(file, [...(byFile.get(file) ?? []), ...items]);
      }
      for (const [file, items] of byFile) {
        if (token.isCancellationRequested) break;
        if (file.uri !== undefined && items.length > 0) await this.#runItems(run, file.uri, items, token);
      }
    } finally {
      run.end();
    }
  }

  async #runItems(
    run: vscode.TestRun,
    uri: vscode.Uri,
    items: readonly vscode.TestItem[],
    token: vscode.CancellationToken,
  ): Promise<void> {
    for (const item of items) run.started(item);
    // The command reads the file from disk.
    await (await vscode.workspace.openTextDocument(uri)).save();
    const result = await runTests(this.#environment.program(), uri, token);
    for (const item of items) {
      if (token.isCancellationRequested) {
        run.skipped(item);
        continue;
      }
      if (result.kind === "failed") {
        run.errored(item, new vscode.TestMessage(result.message));
        continue;
      }
      const outcomes = outcomesOf(item.label, result.tests);
      this.#report(run, item, uri, outcomes);
    }
  }

  #report(run: vscode.TestRun, item: vscode.TestItem, uri: vscode.Uri, outcomes: readonly TestOutcome[]): void {
    const [first] = outcomes;
    if (first === undefined) {
      run.errored(item, new vscode.TestMessage("`ngc test` did not run this test: save the file, and run it again"));
      return;
    }
    const messages = outcomes.flatMap(({ failures }) =>
      failures.map(({ message, line, column }) => {
        const shown = new vscode.TestMessage(message);
        shown.location = new vscode.Location(uri, new vscode.Position(line - 1, column - 1));
        return shown;
      }),
    );
    if (outcomes.every(({ ok }) => ok)) run.passed(item);
    else run.failed(item, messages);
    this.#environment.ran(uri, first.graph, [...new Set(outcomes.flatMap(({ steps }) => steps.flat()))]);
  }
}

/** Runs the tests of a file. Cancelling ends the process. */
async function runTests(
  { command, args }: Program,
  uri: vscode.Uri,
  token: vscode.CancellationToken,
): Promise<TestRun> {
  const cwd = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  return new Promise((resolve) => {
    const child = execFile(
      command,
      [...args, "test", "--json", "--", uri.fsPath],
      { maxBuffer: MOST_OUTPUT, ...(cwd === undefined ? {} : { cwd }) },
      (error, stdout, stderr) => {
        subscription.dispose();
        // Failed tests end with an exit code, and print their document, too.
        const reason = stderr === "" && error !== null ? error.message : stderr;
        resolve(readTestRun(stdout, reason));
      },
    );
    const subscription = token.onCancellationRequested(() => child.kill());
  });
}

function childrenOf(parent: vscode.TestItem | vscode.TestController): vscode.TestItem[] {
  const items: vscode.TestItem[] = [];
  ("children" in parent ? parent.children : parent.items).forEach((item) => items.push(item));
  return items;
}
