import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DIAGNOSTIC_CODES, type CodeInfo, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { pageOf } from "../../diagnostics/render/index.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { packageRoot } from "../start/package-root.ts";

export const explainCommand = defineCommand<object>({
  usage: "explain <code>",
  summary: "explain a diagnostic, with examples",
  examples: ["ngc explain NG301", "ngc explain join-never-complete"],
  run: ([given = ""], _, output) => {
    const code = findCode(given);
    const { name, severity, title }: CodeInfo = DIAGNOSTIC_CODES[code];
    const page = readPage(code);
    output.document({ version: 1, code, name, severity, title, text: page ?? null });
    output.result(page?.trimEnd() ?? `# ${code} ${name} (${severity})\n\n${title}`);
    return EXIT.ok;
  },
});

/** Finds a code by its text in any case, or by its name. */
function findCode(given: string): DiagnosticCode {
  const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[];
  const wanted = given.toLowerCase();
  const found = codes.find((code) => code.toLowerCase() === wanted || DIAGNOSTIC_CODES[code].name === wanted);
  if (found !== undefined) return found;
  const similar = findSimilar(given, [...codes, ...codes.map((code) => DIAGNOSTIC_CODES[code].name)]);
  throw new CommandError(`there is no diagnostic \`${given}\``, {
    help: similar === undefined ? "codes look like NG301" : `did you mean \`${similar}\`?`,
  });
}

function readPage(code: DiagnosticCode): string | undefined {
  try {
    return readFileSync(join(packageRoot(), pageOf(code)), "utf8");
  } catch {
    return undefined;
  }
}
