import type { EngineOptions, ExecuteOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Program } from "../program/program.ts";
import { checkFunction } from "./check-options.ts";
import { programUnder } from "../program/tool-segment.ts";

/** Nodes before and after which this call pauses, besides the gates of the graph. A node of a called graph is `call/node`, and of a tool `call.tool/node`. */
export interface Breakpoints {
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
}

/** @throws RunError NG_BAD_INPUT for nodes that do not exist */
export function readBreakpoints(program: Program, options: ExecuteOptions): Breakpoints | undefined {
  const { pauseBefore, pauseAfter } = options;
  if (pauseBefore === undefined && pauseAfter === undefined) return undefined;
  const before = readNames("pauseBefore", pauseBefore, program);
  const after = readNames("pauseAfter", pauseAfter, program);
  return before.size + after.size === 0 ? undefined : { before, after };
}

function readNames(option: string, names: unknown, program: Program): ReadonlySet<string> {
  if (names === undefined) return new Set();
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
    throw new RunError("NG_BAD_INPUT", `\`${option}\` is a list of nodes`);
  }
  for (const name of names) {
    if (hasNode(program, name.split("/"))) continue;
    throw noSuchNode(option, name, program);
  }
  return new Set(names);
}

function noSuchNode(option: string, name: string, program: Program): RunError {
  const known = [...program.nodeIndex.keys()].slice(0, 20).map((node) => `\`${node}\``);
  const hint = name.includes("/") ? "" : `; the nodes are: ${known.join(", ")}`;
  return new RunError("NG_BAD_INPUT", `\`${option}\` names \`${name}\`, which is no node of the graph${hint}`);
}

/** A mock of another name would replace nothing, and the node would do its work. @throws RunError NG_BAD_INPUT */
export function checkMocks(program: Program, mocks: EngineOptions["mocks"] = {}): void {
  for (const name of Object.keys(mocks)) {
    if (!program.nodeIndex.has(name)) throw noSuchNode("mocks", name, program);
    checkFunction(`mocks.${name}`, mocks[name]);
  }
}

function hasNode(program: Program, path: readonly string[]): boolean {
  let graph: Program | undefined = program;
  for (const name of path) {
    const [node = "", tool] = name.split(".", 2);
    if (graph?.nodeIndex.has(node) !== true) return false;
    graph = programUnder(graph, name);
    if (tool !== undefined && graph === undefined) return false;
  }
  return true;
}
