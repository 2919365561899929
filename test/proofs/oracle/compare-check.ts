import type { CheckResult } from "../../../compiler/checks/check-graph.ts";
import type { Verdicts } from "./brute-force.ts";
import type { RandomGraph } from "./random-graph.ts";

/** Compares the diagnostics and proofs of `ngc check` with the runs of a graph. */
export function differencesOfCheck(
  graph: RandomGraph,
  { diagnostics, proofs }: CheckResult,
  verdicts: Verdicts,
  gaps: readonly string[],
): string[] {
  const found: string[] = [];
  const isExact = graph.family !== "beyond";
  const jumps = graph.nodes.some((node) => node.goes.length > 0);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const has = (code: string, severity?: string): boolean =>
    diagnostics.some((item) => item.code === code && (severity === undefined || item.severity === severity));
  const expect = (condition: boolean, text: string): void => {
    if (!condition) found.push(`check: ${text}`);
  };
  const isProven = proofs.some(({ code }) => code === "NG310");
  expect(!isProven || verdicts.sound, "NG310, but runs are not sound");
  expect(!isProven || errors.every(({ code }) => !code.startsWith("NG30")), "NG310 beside errors");
  if (isExact && !jumps) {
    const said = ["NG301", "NG302", "NG303", "NG307", "NG309", "NG311", "NG316", "NG203", "NG204", "NG208"];
    const isReported = said.some((code) => has(code)) || errors.length > 0;
    expect(isProven || isReported, "neither sound nor a word why");
    expect(verdicts.sound || !isProven, "sound, but it is not");
    expect(!has("NG900", "warning"), "NG900");
  }
  graph.assertions.forEach(({ form, a, b }, index) => {
    const text = form.startsWith("before")
      ? `${a} ${form} ${b}`
      : form === "never"
        ? `never ${a} with ${b}`
        : `${form} ${a}`;
    const proven = proofs.some(({ code, message }) => code === "NG214" && message.includes(`\`${text}\``));
    const refuted = diagnostics.find(({ code, message }) => code === "NG213" && message.includes(`\`${text}\``));
    const holds = verdicts.holds[index]!;
    expect(!proven || holds, `\`${text}\` seems proven`);
    expect(refuted?.severity !== "error" || !holds, `\`${text}\` seems refuted`);
    // These runs jump to one node at a time; what a jump to several breaks is reported as possible.
    if (isExact) expect(holds ? proven || jumps : refuted !== undefined, `nothing about \`${text}\``);
  });
  expect(!has("NG401", "error") || verdicts.race, "NG401 is an error, but no run has two writers");
  expect(has("NG401") || !verdicts.race, "NG401 is missing");
  const parallel = proofs.find(({ code }) => code === "NG609")?.message;
  if (parallel !== undefined) {
    const most = parallel.startsWith("one node") ? 1 : Number(/^at most (\d+)/.exec(parallel)?.[1]);
    expect(most >= verdicts.parallel, `NG609 says ${most}, runs have ${verdicts.parallel}`);
  }
  const bound = /within (\d+)/.exec(proofs.find(({ code }) => code === "NG210")?.message ?? "")?.[1];
  if (bound !== undefined)
    expect(verdicts.steps !== undefined && verdicts.steps <= Number(bound), `NG210 says ${bound}`);
  if (isExact) {
    const said = new Set(
      diagnostics
        .filter(({ code }) => code === "NG501" || code === "NG515")
        .map(({ span }) => statementAt(graph.text, span.start).split(/[ ,]/)[0]!),
    );
    expect([...said].toSorted().join() === gaps.toSorted().join(), `gaps at ${[...said].join()}, runs: ${gaps.join()}`);
  }
  return found;
}

function statementAt(text: string, offset: number): string {
  return text.slice(text.lastIndexOf("\n", offset) + 1).trimStart();
}
