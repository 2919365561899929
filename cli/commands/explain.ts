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
  usage: "explain [code]",
  summary: "explain a diagnostic, or an error of a run; without a code, list all",
  examples: ["ngc explain", "ngc explain NG301", "ngc explain join-never-complete", "ngc explain NG_DRIFT"],
  run: ([given], _, output) => {
    if (given === undefined) return listCodes(output);
    if (/^ng_/i.test(given)) return explainError(given.toUpperCase(), output);
    const code = findCode(given);
    const { name, severity, title }: CodeInfo = DIAGNOSTIC_CODES[code];
    const page = readPage(code);
    output.document({ version: 1, code, name, severity, title, text: page ?? null });
    output.result(page?.trimEnd() ?? `# ${code} ${name} (${severity})\n\n${title}`);
    return EXIT.ok;
  },
});

function listCodes(output: Output): ExitCode {
  const diagnostics = Object.entries<CodeInfo>(DIAGNOSTIC_CODES).map(([code, info]) => ({ code, ...info }));
  const errors = errorSections().map(({ code, text }) => ({ code, title: firstSentence(text) }));
  output.document({ version: 1, diagnostics, errors });
  const width = Math.max(...errors.map(({ code }) => code.length));
  output.result(
    [
      "Diagnostics of `ngc check`:",
      ...diagnostics.map(({ code, severity, title }) => `  ${code}  ${severity.padEnd("warning".length)}  ${title}`),
      "",
      "Errors of runs:",
      ...errors.map(({ code, title }) => `  ${code.padEnd(width)}  ${title}`),
      "",
      "`ngc explain CODE` explains one of them.",
    ].join("\n"),
  );
  return EXIT.ok;
}

/** The first sentence of a section, without its links. */
function firstSentence(text: string): string {
  const [paragraph = ""] = text.split("\n\n", 1);
  const line = paragraph.replace(/\s+/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return /^.*?\.(?=\s|$)/.exec(line)?.[0] ?? line;
}

/** The page of the errors of runs, with a section for each code. */
const ERRORS = "docs/errors.md";

function errorSections(): readonly { readonly code: string; readonly text: string }[] {
  const sections = readText(ERRORS)?.split(/^## /m).slice(1) ?? [];
  return sections.map((section) => {
    const code = section.slice(0, section.indexOf("\n"));
    return { code, text: section.slice(code.length).trim() };
  });
}

function explainError(code: string, output: Output): ExitCode {
  const sections = errorSections();
  const text = sections.find((section) => section.code === code)?.text;
  if (text === undefined) {
    const similar = findSimilar(
      code,
      sections.map((section) => section.code),
    );
    throw new CommandError(`there is no error \`${code}\``, {
      help: similar === undefined ? "`ngc explain` lists the codes" : `did you mean \`${similar}\`?`,
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
    help: similar === undefined ? "`ngc explain` lists the codes" : `did you mean \`${similar}\`?`,
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
