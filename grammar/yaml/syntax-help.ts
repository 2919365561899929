import type { YAMLError } from "yaml";

/** The message for a syntax error of the YAML library, with help for mistakes that are common in graphs. */
export function syntaxHelp(error: YAMLError, text: string): { message: string; help?: string } {
  const message = plain(error.message);
  const help = helpFor(error, text);
  return help === undefined ? { message } : { message, help };
}

/** Lower case, no full stop, no place (the diagnostic has it). */
function plain(message: string): string {
  const line = (message.split("\n", 1)[0] ?? "").replace(/ at line \d+, column \d+:?$/, "").replace(/[.:]$/, "");
  return /^[A-Z][a-z]/.test(line) ? `${line.charAt(0).toLowerCase()}${line.slice(1)}` : line;
}

function helpFor(error: YAMLError, text: string): string | undefined {
  const at = text[error.pos[0]];
  switch (error.code) {
    case "BAD_SCALAR_START":
      if (at === "`") return 'a template goes in quotes: "`…`"';
      return "put the value in quotes";
    case "TAB_AS_INDENT":
      return "indent with spaces";
    case "BLOCK_AS_IMPLICIT_KEY":
    case "MULTILINE_IMPLICIT_KEY":
      return "a value with `: ` or over several lines goes in quotes";
    case "BAD_INDENT":
      return "indent the keys of one map alike";
    case "MISSING_CHAR":
      return "a quote or bracket is not closed";
    default:
      return undefined;
  }
}
