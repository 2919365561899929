import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import type { ShellOptions } from "./shell-options.ts";

/** In characters of at most three bytes. */
const LONGEST_VARIABLE = 32 * 1024;

/** The variables that report to a command why the previous attempt of its task has failed. */
export function failureVariables(context: Parameters<BuiltinNode>[1], watch: ShellOptions): Record<string, string> {
  if (context.failure === undefined) return {};
  const text = failureText(context.failure);
  const file = watch.storeFailure?.({ node: context.node ?? "", attempt: context.attempt }, text);
  // The longest variable that Linux accepts has 128 KiB.
  const cut = text.length > LONGEST_VARIABLE ? text.slice(0, LONGEST_VARIABLE) : text;
  // An environment cannot contain NUL characters.
  return {
    NGRAPH_FAILURE: cut.replaceAll("\0", "\uFFFD"),
    ...(file === undefined ? {} : { NGRAPH_FAILURE_FILE: file }),
  };
}

/** The message, then each failed check with the end of its output. */
function failureText({ message, checks }: JsonObject): string {
  const parts = (Array.isArray(checks) ? checks : []).map((check) => {
    const { command, output } = check as { readonly command: string; readonly output: string };
    return `\n$ ${command}\n${output}${output === "" || output.endsWith("\n") ? "" : "\n"}`;
  });
  return `${String(message)}\n${parts.join("")}`;
}
