import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import { diagnostic, type Diagnostic, type DiagnosticDetails } from "../../diagnostics/diagnostic.ts";
import { SourceFile, type Span } from "../../diagnostics/source.ts";

/** The `occurrence`-th place (from 0) of `part` in a file. */
export function placeOf(file: SourceFile, part: string, occurrence = 0): { file: SourceFile; span: Span } {
  let start = -1;
  for (let count = 0; count <= occurrence; count++) start = file.text.indexOf(part, start + 1);
  if (start === -1) throw new Error(`no ${part} in ${file.path}`);
  return { file, span: { start, end: start + part.length } };
}

/** A diagnostic about `part` of a text that is no real graph. */
export function sample(
  file: SourceFile,
  part: string,
  details: DiagnosticDetails = {},
  code: DiagnosticCode = "NG101",
  message = "the message",
): Diagnostic {
  return diagnostic(code, placeOf(file, part), message, details);
}

/** The example of diagnostics.md. */
export function joinNeverComplete(): Diagnostic {
  const head = Array.from({ length: 8 }, (_, index) => `// ${index + 1}`).join("\n");
  const file = new SourceFile(
    "review.ngraph",
    `${head}
  triage -> match verdict { "ok" -> legal  "bad" -> rewrite }
// 10
// 11
// 12
// 13
  all(legal, rewrite) -> publish
`,
  );
  return diagnostic(
    "NG301",
    placeOf(file, "all(legal, rewrite)"),
    "`publish` can never run: its barrier waits for both arms of one choice",
    {
      label: "waits for both",
      labels: [
        { ...placeOf(file, "legal"), message: "" },
        { ...placeOf(file, "rewrite"), message: "and this arm are exclusive" },
      ],
      trace: [
        { step: 0, ran: ["triage"], chose: { triage: '"ok"' }, barriers: {} },
        { step: 1, ran: ["legal"], chose: {}, barriers: { publish: ["legal"] } },
      ],
      traceEnd: "stuck: publish has 1 of 2 (waits for rewrite)",
      help: "signal it from either: `any(legal, rewrite) -> publish`",
      fixes: [
        {
          title: "signal it from either",
          edits: [{ ...placeOf(file, "all(legal, rewrite)"), text: "legal, rewrite" }],
        },
      ],
    },
  );
}
