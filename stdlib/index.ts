/** Built-in nodes, their signatures for the compiler, and the functions of the expression language. */
export { builtinNodes } from "./builtin-nodes.ts";
export { NodeFailure } from "./node-failure.ts";
export { ask } from "./nodes/ask.ts";
export { csv } from "./nodes/csv.ts";
export { fail } from "./nodes/fail.ts";
export { createFile, file, type FileOptions } from "./nodes/file.ts";
export { http } from "./nodes/http.ts";
export { json } from "./nodes/json.ts";
export { createLlm, type LlmOptions } from "./nodes/llm.ts";
export { McpServers, type McpOptions } from "./mcp/servers.ts";
export type { ServerSettings } from "./mcp/server-settings.ts";
export { createPrint, print } from "./nodes/print.ts";
export { createShell, shell, type RunningCommand, type ShellOptions } from "./nodes/shell.ts";
export { sleep } from "./nodes/sleep.ts";
export { createTool } from "./nodes/tool.ts";
export type { NodeSignature, Parameter } from "./signature.ts";
export { nodeSignatures, SUPPLIED_BY_RUNNER } from "./signatures.ts";
export { library, type LibraryFunction, type LibraryName } from "../runtime/expression/library.ts";
