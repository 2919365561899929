/** Tasks of the type `ngc`. */
import { dirname } from "node:path";
import * as vscode from "vscode";
import type { Program } from "./find-ngc.ts";

interface NgcTask extends vscode.TaskDefinition {
  readonly command: string;
  readonly path?: string;
}

const COMMANDS: ReadonlySet<string> = new Set(["check", "test", "compile"]);

export function createTaskProvider(program: () => Program): vscode.TaskProvider {
  const taskOf = (
    definition: NgcTask,
    scope: vscode.WorkspaceFolder | vscode.TaskScope.Global | vscode.TaskScope.Workspace,
  ): vscode.Task => {
    const { command, args } = program();
    const path = definition.path ?? ".";
    // No shell reads the path.
    const execution = new vscode.ProcessExecution(command, [...args, definition.command, "--", path]);
    const task = new vscode.Task(definition, scope, `${definition.command} ${path}`, "ngc", execution, "$ngc");
    task.group = definition.command === "test" ? vscode.TaskGroup.Test : vscode.TaskGroup.Build;
    return task;
  };
  return {
    provideTasks: () =>
      (vscode.workspace.workspaceFolders ?? []).flatMap((folder) =>
        ["check", "test"].map((command) => taskOf({ type: "ngc", command }, folder)),
      ),
    resolveTask: ({ definition, scope }) => {
      const { command, path } = definition;
      if (typeof command !== "string" || !COMMANDS.has(command)) return undefined;
      if (path !== undefined && typeof path !== "string") return undefined;
      return taskOf(definition as NgcTask, scope ?? vscode.TaskScope.Workspace);
    },
  };
}

/** A run of a graph or plan as a task, whose output is in a terminal. */
export function runTask(program: Program, uri: vscode.Uri, name: string, input: string): vscode.Task {
  const given = input.trim() === "" ? [] : [`--input=${input.trim()}`];
  return terminalTask(program, uri, `run ${name}`, ["run", `--graph=${name}`, ...given, "--", uri.fsPath]);
}

/** A command of `ngc` as a task, in the folder of a file: there is the store of its runs. */
export function terminalTask(
  { command, args }: Program,
  uri: vscode.Uri,
  title: string,
  given: readonly string[],
): vscode.Task {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  // A file outside of the workspace has its store beside it, as the language server looks for it.
  const options = folder === undefined ? { cwd: dirname(uri.fsPath) } : {};
  return new vscode.Task(
    { type: "ngc", command: given[0] ?? "", path: uri.fsPath },
    folder ?? vscode.TaskScope.Workspace,
    title,
    "ngc",
    new vscode.ProcessExecution(command, [...args, ...given], options),
    "$ngc",
  );
}
