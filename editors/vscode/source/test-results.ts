/** The document of `ngc test --json`, as far as the test explorer shows it. */
export interface TestOutcome {
  readonly title: string;
  readonly graph: string;
  readonly ok: boolean;
  /** The nodes of each step. */
  readonly steps: readonly (readonly string[])[];
  readonly failures: readonly { readonly message: string; readonly line: number; readonly column: number }[];
}

/** What a run of tests said: outcomes, or the reason why it has none. */
export type TestRun =
  | { readonly kind: "ran"; readonly tests: readonly TestOutcome[] }
  | { readonly kind: "failed"; readonly message: string };

interface Failure {
  readonly message?: unknown;
  readonly details?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
}

/** Reads the output of `ngc test --json`. Output that is not the document becomes a message. */
export function readTestRun(stdout: string, stderr: string): TestRun {
  const document = parse(stdout);
  if (!isObject(document) || !Array.isArray(document["tests"]))
    return { kind: "failed", message: messageOf(document, stderr) };
  const tests = (document["tests"] as readonly unknown[]).filter(isObject).map((test): TestOutcome => {
    const failures = Array.isArray(test["failures"]) ? (test["failures"] as readonly Failure[]) : [];
    const steps = Array.isArray(test["steps"]) ? (test["steps"] as readonly unknown[]) : [];
    return {
      title: String(test["title"]),
      graph: String(test["graph"]),
      ok: test["ok"] === true,
      steps: steps.map((step) => (Array.isArray(step) ? step.map(String) : [])),
      failures: failures.map(({ message, details, line, column }) => ({
        message: [String(message), ...(Array.isArray(details) ? details.map(String) : [])].join("\n"),
        line: Number(line) || 1,
        column: Number(column) || 1,
      })),
    };
  });
  return { kind: "ran", tests };
}

/** The outcomes of a test: one, or one for each of its cases. */
export function outcomesOf(title: string, tests: readonly TestOutcome[]): TestOutcome[] {
  return tests.filter((test) => test.title === title);
}

function messageOf(document: unknown, stderr: string): string {
  if (isObject(document)) {
    const { diagnostics, error } = document;
    const [first] = Array.isArray(diagnostics) ? (diagnostics as readonly unknown[]) : [];
    if (isObject(first)) return `${String(first["code"])}: ${String(first["message"])}`;
    if (isObject(error)) return String(error["message"]);
  }
  return stderr.trim() === "" ? "ngc test printed no results" : stderr.trim().slice(0, 2_000);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
