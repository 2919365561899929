import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numRuns } from "../support/depth.ts";
import { parse } from "../../grammar/parse.ts";
import { grammar, randomFile } from "./random-file.ts";
import { countKinds, misplacedSpans } from "./tree.ts";

/** Rules and the kinds of node that one use of them makes. */
const MADE_BY: readonly (readonly [rule: string, kinds: readonly string[]])[] = [
  ["import", ["Import"]],
  ["importName", ["ImportName"]],
  ["typedef", ["Type"]],
  ["secret", ["Secret"]],
  ["graph", ["Graph"]],
  ["plan", ["Plan"]],
  ["test", ["Test"]],
  ["channel", ["Channel"]],
  ["derive", ["Derive"]],
  ["const", ["Const"]],
  ["node", ["Node"]],
  ["limit", ["Limit"]],
  ["defaults", ["Defaults"]],
  ["assertion", ["Assert"]],
  ["drop", ["Drop"]],
  ["edge", ["Edge"]],
  ["targets", ["Targets"]],
  ["valueArm", ["ValueArm"]],
  ["conditionArm", ["ConditionArm"]],
  ["task", ["Task"]],
  ["argument", ["Argument"]],
  ["field", ["RecordTypeField"]],
  ["outputField", ["OutputField"]],
  ["recordField", ["RecordField"]],
  ["spread", ["Spread"]],
  ["forClause", ["ForClause"]],
  [
    "testLine",
    [
      "Given",
      "Mock",
      "MockFails",
      "Answer",
      "Signal",
      "ExpectRan",
      "ExpectStatus",
      "ExpectNeverRan",
      "ExpectPausedAt",
      "ExpectFailsWith",
      "ExpectUndone",
      "Expect",
    ],
  ],
  [
    "policy",
    [
      "Tries",
      "Timeout",
      "Within",
      "Cache",
      "MaxParallel",
      "AllowFailure",
      "Waits",
      "Goes",
      "Was",
      "Pause",
      "Idempotent",
      "Undo",
      "Touches",
      "Alone",
      "DoneWhen",
      "Pool",
      "Estimate",
      "Cwd",
      "Env",
      "Worktree",
      "Outputs",
      "Interactive",
    ],
  ],
];

describe("random files derived from docs/grammar.ebnf", () => {
  it("defines every rule that it uses, and uses every rule that it defines", () => {
    const used = new Set(["file"]);
    const visit = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      if ("kind" in value && value.kind === "rule" && "name" in value) used.add(String(value.name));
      Object.values(value).forEach(visit);
    };
    for (const production of grammar.values()) visit(production);
    expect([...used].sort()).toEqual([...grammar.keys()].sort());
  });

  // Whole files are mostly small; beginning with one kind of item or statement goes deeper into it.
  const starts: [string, string, (text: string) => string, number][] = [
    ["files", "file", (text) => text, 1500],
    ["graphs", "statement", (text) => `graph g {${text}\n}`, 1500],
    ["edges", "edge", (text) => `graph g {${text}\n}`, 700],
    ["plans", "planStatement", (text) => `plan p {${text}\n}`, 700],
    ["tests", "testLine", (text) => `test "t" for g {${text}\n}`, 700],
    ["types", "type", (text) => `type T = ${text}`, 400],
    ["expressions", "expr", (text) => `graph g { node n =${text}\n}`, 1500],
  ];
  it.each(starts)("parse without a diagnostic: %s", (_, start, wrap, runs) => {
    const uses = new Map<string, number>();
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const file = randomFile(seed, start);
        fc.pre(file !== undefined);
        const text = wrap(file?.text ?? "");
        const { file: tree, diagnostics } = parse(text);
        expect(diagnostics.map((item) => `${item.code} ${item.message} at ${item.span.start} in ${text}`)).toEqual([]);
        expect(misplacedSpans(tree, text.length)).toEqual([]);
        const derived = file?.derivation.uses ?? new Map<string, number>();
        const counts = countKinds(tree.items);
        for (const [rule, kinds] of MADE_BY) {
          const made = kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
          const around =
            wrap("").startsWith(`${rule} `) ||
            (rule === "node" && start === "expr") ||
            (rule === "typedef" && start === "type")
              ? 1
              : 0;
          // The policies of an `undo` are a rule of their own.
          const ofUndo = rule === "policy" ? (derived.get("undoPolicy") ?? 0) : 0;
          const uses = (derived.get(rule) ?? 0) + ofUndo + around;
          expect(`${made} × ${rule} in ${text}`).toBe(`${uses} × ${rule} in ${text}`);
        }
        for (const [rule, count] of derived) uses.set(rule, (uses.get(rule) ?? 0) + count);
      }),
      { numRuns: numRuns(runs), seed: 20_240 },
    );
    expect(uses.size).toBeGreaterThan(3);
  });
});
