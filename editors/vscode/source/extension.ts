/** The entry point of the extension. */
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import type { CodeLens, LanguageClient } from "vscode-languageclient/node";
import { findNgc, type Program } from "./find-ngc.ts";
import { findSymbol } from "./find-symbol.ts";
import { createClient, LANGUAGES } from "./language-client.ts";
import { outlineOf, Previews } from "./preview.ts";
import type { Question } from "../../../editor/previews.ts";
import { answerArguments } from "./shown-run.ts";
import { createTaskProvider, runTask, terminalTask } from "./tasks.ts";
import { TestExplorer } from "./tests.ts";

let client: LanguageClient | undefined;

/** Registers the commands. The server starts when the workspace is trusted. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("ngraph", { log: true });
  const previews = new Previews(context.extensionUri, {
    picture: async (uri, name) => request("ngraph/preview", { uri: uri.toString(), name }),
    run: async (uri, name) => request("ngraph/run", { uri: uri.toString(), name }),
    answer,
  });
  let explorer: TestExplorer | undefined;
  const start = async (): Promise<void> => {
    if (!vscode.workspace.isTrusted) return;
    await startClient(log);
    explorer ??= new TestExplorer({
      lenses: async (uri) =>
        (await request<CodeLens[] | null>("textDocument/codeLens", { textDocument: { uri: uri.toString() } })) ?? [],
      program,
      ran: (uri, graph, nodes) => {
        previews.mark(uri, graph, nodes);
      },
    });
  };
  context.subscriptions.push(
    log,
    previews,
    { dispose: () => explorer?.dispose() },
    vscode.tasks.registerTaskProvider("ngc", createTaskProvider(program)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ngraph.path")) void restart(start);
    }),
    vscode.commands.registerCommand("ngraph.preview", async (uri?: unknown, name?: unknown) => {
      const file = fileOf(uri);
      if (file !== undefined) await previews.show(file, textOf(name));
    }),
    vscode.commands.registerCommand("ngraph.run", async (uri?: unknown, name?: unknown) => {
      const file = fileOf(uri);
      if (file !== undefined) await runGraph(file, textOf(name));
    }),
    vscode.commands.registerCommand("ngraph.test", async (uri?: unknown, title?: unknown) => {
      const file = fileOf(uri);
      if (file !== undefined) await explorer?.runFile(file, textOf(title));
    }),
    vscode.commands.registerCommand("ngraph.references", async (uri?: unknown, name?: unknown) => {
      const file = fileOf(uri);
      if (file !== undefined) await showUses(file, textOf(name));
    }),
    vscode.commands.registerCommand("ngraph.restart", async () => restart(start)),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
}

function program(): Program {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  return findNgc(vscode.workspace.getConfiguration("ngraph").get<string>("path"), folders, existsSync);
}

async function startClient(log: vscode.LogOutputChannel): Promise<void> {
  if (client !== undefined) return;
  const started = createClient(program(), log);
  client = started;
  try {
    await started.start();
  } catch (error) {
    client = undefined;
    const { command } = program();
    const reason = error instanceof Error ? error.message : String(error);
    const choice = await vscode.window.showErrorMessage(
      `The language server of ngraph did not start (\`${command}\`): ${reason}. Install it with \`npm install ngraph\`, or set \`ngraph.path\`.`,
      "Open Setting",
    );
    if (choice === "Open Setting") await vscode.commands.executeCommand("workbench.action.openSettings", "ngraph.path");
  }
}

async function restart(start: () => Promise<void>): Promise<void> {
  const stopped = client;
  client = undefined;
  await stopped?.dispose().catch(() => undefined);
  await start();
}

async function request<Answer>(method: string, params: object): Promise<Answer> {
  if (client === undefined) throw new Error("the language server of ngraph does not run");
  return client.sendRequest<Answer>(method, params);
}

/** The file of a lens or of the explorer, else that of the active editor. */
function fileOf(value: unknown): vscode.Uri | undefined {
  if (value instanceof vscode.Uri) return value;
  if (typeof value === "string") return vscode.Uri.parse(value, true);
  const active = vscode.window.activeTextEditor?.document;
  return active !== undefined && LANGUAGES.some((language) => language === active.languageId) ? active.uri : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A name that the lens has, or one of the graphs and plans of the file. */
async function chooseGraph(uri: vscode.Uri, name: string | undefined): Promise<string | undefined> {
  if (name !== undefined) return name;
  const lenses = await request<CodeLens[] | null>("textDocument/codeLens", { textDocument: { uri: uri.toString() } });
  const names = (lenses ?? []).flatMap(({ command }) => {
    const own: unknown = command?.command === "ngraph.run" ? command.arguments?.[1] : undefined;
    return typeof own === "string" ? [own] : [];
  });
  return names.length <= 1 ? names[0] : vscode.window.showQuickPick(names, { title: "Graph or plan" });
}

async function runGraph(uri: vscode.Uri, given: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showInformationMessage("A run starts programs, and needs a trusted workspace.");
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const name = await chooseGraph(uri, given);
  if (name === undefined) return;
  const input = await vscode.window.showInputBox({
    title: `Run ${name}`,
    prompt: "The input as JSON, or empty",
    placeHolder: "{}",
    validateInput: problemOfInput,
  });
  if (input === undefined) return;
  await document.save();
  await vscode.tasks.executeTask(runTask(program(), uri, name, input));
}

/** Asks for the answer to one of the questions of a run, and resumes the run in a terminal. */
async function answer(uri: vscode.Uri, thread: string, questions: readonly Question[]): Promise<void> {
  const [first] = questions;
  const question =
    questions.length === 1
      ? first
      : (
          await vscode.window.showQuickPick(
            questions.map((each) => ({ label: each.node, detail: each.question, each })),
            { title: "Question" },
          )
        )?.each;
  if (question === undefined) return;
  const given =
    question.choices.length > 0
      ? await vscode.window.showQuickPick([...question.choices], { title: question.question })
      : await vscode.window.showInputBox({ title: question.node, prompt: question.question || "The answer, as JSON" });
  if (given === undefined) return;
  await vscode.tasks.executeTask(
    terminalTask(program(), uri, `resume ${thread}`, answerArguments(thread, question, given)),
  );
}

function problemOfInput(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "the input is not JSON";
  }
}

async function showUses(uri: vscode.Uri, given: string | undefined): Promise<void> {
  const name = await chooseGraph(uri, given);
  const symbol = name === undefined ? undefined : findSymbol(await outlineOf(uri), name);
  if (symbol === undefined) return;
  const at = symbol.selectionRange.start;
  const uses = await vscode.commands.executeCommand<vscode.Location[]>("vscode.executeReferenceProvider", uri, at);
  await vscode.commands.executeCommand("editor.action.showReferences", uri, at, uses);
}
