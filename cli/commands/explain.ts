import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DIAGNOSTIC_CODES, type CodeInfo, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { pageOf } from "../../diagnostics/render/index.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { packageRoot } from "../start/package-root.ts";

export const explainCommand = defineCommand<object>({
  usage: "explain <code>",
  summary: "explain a diagnostic, or an error of a run",
  examples: ["ngc explain NG301", "ngc explain join-never-complete", "ngc explain NG_DRIFT"],
  run: ([given = ""], _, output) => {
    if (/^ng_/i.test(given)) return explainError(given.toUpperCase(), output);
    const code = findCode(given);
    const { name, severity, title }: CodeInfo = DIAGNOSTIC_CODES[code];
    const page = readPage(code);
    output.document({ version: 1, code, name, severity, title, text: page ?? null });
    output.result(page?.trimEnd() ?? `# ${code} ${name} (${severity})\n\n${title}`);
    return EXIT.ok;
  },
});

/** The page of the errors of runs, with a section for each code. */
const ERRORS = "docs/errors.md";

function explainError(code: string, output: Output): ExitCode {
  const sections = readText(ERRORS)?.split(/^## /m).slice(1) ?? [];
  const codes = sections.map((section) => section.slice(0, section.indexOf("\n")));
  const text = sections[codes.indexOf(code)]?.slice(code.length).trim();
  if (text === undefined) {
    const similar = findSimilar(code, codes);
    throw new CommandError(`there is no error \`${code}\``, {
      help: similar === undefined ? `the codes are in ${ERRORS}` : `did you mean \`${similar}\`?`,
    });
  }
  output.document({ version: 1, code, text });
  output.result(`# ${code}\n\n${text}`);
  return EXIT.ok;
}

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
  return readText(pageOf(code));
}

/** A file of the package; `undefined` if it is not installed. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(join(packageRoot(), path), "utf8");
  } catch {
    return undefined;
  }
}
