import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Happening } from "./observe.ts";

/** What the run of a finding's trace comes to; any of them shows it. */
const EXPECTED: Partial<Record<DiagnosticCode, readonly Happening[]>> = {
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

/** Of a trace without a code, or of one that says nothing about it: whatever no run should come to. */
const ANY_FAILURE: readonly Happening[] = ["incomplete", "failed", "assertion", "lost", "limit"];

export function expectedHappenings(code: string | undefined): readonly Happening[] {
  return (code === undefined ? undefined : EXPECTED[code as DiagnosticCode]) ?? ANY_FAILURE;
}
