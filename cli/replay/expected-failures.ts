import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { FailureKind } from "./observe.ts";

/** The failures that show a finding; a replay that has one of them confirms the finding. */
const EXPECTED: Partial<Record<DiagnosticCode, readonly FailureKind[]>> = {
  NG203: ["repeats"],
  NG204: ["repeats"],
  NG205: ["repeats"],
  NG206: ["repeats"],
  NG208: ["repeats"],
  NG211: ["limit"],
  NG213: ["assertion"],
  NG301: ["incomplete", "waiting"],
  NG302: ["incomplete", "waiting"],
  NG303: ["incomplete", "waiting"],
  NG307: ["again"],
  NG308: ["ends"],
  NG309: ["lost"],
  NG311: ["repeats"],
  NG312: ["together"],
  NG314: ["together", "discards"],
  NG316: ["merged"],
  NG401: ["failed"],
  NG402: ["together"],
  NG404: ["together"],
};

/** For a trace without a code, or with a code that is not listed above: the failures that no run should have. */
const ANY_FAILURE: readonly FailureKind[] = ["incomplete", "failed", "assertion", "lost", "limit"];

export function expectedFailures(code: string | undefined): readonly FailureKind[] {
  return (code === undefined ? undefined : EXPECTED[code as DiagnosticCode]) ?? ANY_FAILURE;
}
