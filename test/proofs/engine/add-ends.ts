/**
 * Adds ends to the text of a random graph: edges and jumps to `rollback`, undos, a `finally` part and `config` channels.
 * The graph keeps its other edges.
 */
import type { Random } from "./random.ts";

/** A call of an imported function that neither jumps nor has a `cache`. */
const CAN_UNDO = /^( {2}node n\d+ = act\((?!.* goes )(?!.*\b(?:cache|undo)\b).*?)( \{ (.*) \})?$/;

export function addEnds(text: string, random: Random): string {
  const lines = text.split("\n");
  const nodes = lines.flatMap((line) => /^ {2}node (n\d+) = /.exec(line)?.[1] ?? []);
  const added: string[] = [];
  if (random.chance(0.65)) rollBack(lines, nodes, random, added);
  if (random.chance(0.6)) addUndos(lines, random);
  if (random.chance(0.7)) addFinally(lines, nodes, random, added);
  if (random.chance(0.4)) configure(lines, random, added);
  const close = lines.lastIndexOf("}");
  return lines.toSpliced(close, 0, ...added).join("\n");
}

/** Some edges to `end`, or to a node, lead to `rollback`; some nodes roll back on error. */
function rollBack(lines: string[], nodes: readonly string[], random: Random, added: string[]): void {
  const pick = (fits: (line: string) => boolean, change: (line: string) => string): void => {
    const found = lines.flatMap((line, index) => (line.startsWith("  ") && fits(line) ? [index] : []));
    if (found.length === 0) return;
    const at = random.pick(found);
    lines[at] = change(lines[at] ?? "");
  };
  const isEdge = (line: string): boolean => / -> /.test(line) && !/^ {2}(start|node|assert)\b/.test(line);
  for (let count = 1 + random.below(2); count > 0; count--) {
    const roll = random.next();
    if (roll < 0.25)
      pick(
        (line) => line.endsWith(" -> end"),
        (line) => line.replace(/end$/, "rollback"),
      );
    else if (roll < 0.5)
      pick(
        (line) => isEdge(line) && / on error/.test(line),
        (line) => line.replace(/-> \w+/, "-> rollback"),
      );
    else if (roll < 0.7)
      pick(
        (line) => isEdge(line) && /-> n\d+ (when|otherwise)/.test(line),
        (line) => line.replace(/-> n\d+/, "-> rollback"),
      );
    else if (roll < 0.8)
      pick(
        (line) => isEdge(line) && /\{.* -> n\d+ .*\}$/.test(line),
        (line) => line.replace(/ -> n\d+ (.*\})$/, " -> rollback $1"),
      );
    else if (roll < 0.9)
      pick(
        (line) => / goes n\d+/.test(line),
        (line) => line.replace(/ goes (.*?)(?= {2}| \})/, " goes $1, rollback"),
      );
    else
      pick(
        (line) => /^ {2}all\(.*\) -> n\d+$/.test(line),
        (line) => line.replace(/-> n\d+$/, "-> rollback"),
      );
  }
  const plain = random
    .shuffle(nodes)
    .find((node) => !lines.some((line) => line.includes(" on error") && line.includes(`${node} `)));
  if (plain !== undefined && random.chance(0.5)) added.push(`  ${plain} -> rollback on error`);
}

function addUndos(lines: string[], random: Random): void {
  lines.forEach((line, index) => {
    if (!CAN_UNDO.test(line) || !random.chance(0.4)) return;
    const undo = random.pick(["undo back(1)", "undo back(2) { tries 2 }"]);
    lines[index] = line.replace(
      CAN_UNDO,
      (_, call: string, __, policies?: string) => `${call} { ${undo}${policies === undefined ? "" : `  ${policies}`} }`,
    );
  });
  const first = lines[0] ?? "";
  if (lines.some((line) => line.includes("undo back("))) lines[0] = first.replace("act", "act, back");
}

/** Nodes and edges of a `finally` part: a chain, parallel nodes with a barrier, a choice, a loop, or nodes of the main part. */
function addFinally(lines: string[], nodes: readonly string[], random: Random, added: string[]): void {
  const declared = lines.flatMap((line) => /^ {2}(?:state|output) (\w+): int(?: |$)/.exec(line)?.[1] ?? []);
  const into = declared.length > 0 && random.chance(0.6) ? ` into ${random.pick(declared)}` : "";
  for (const name of ["f0", "f1", "f2"]) added.push(`  node ${name} = act("${name}")${random.chance(0.5) ? into : ""}`);
  const flag = lines.some((line) => /^ {2}(state|output) flag: bool/.test(line))
    ? "flag"
    : `outcome.status == "completed"`;
  const condition = random.pick([`outcome.status == "completed"`, `outcome.error != null`, flag]);
  const node = random.pick(nodes);
  const shape = random.pick([
    ["finally -> f0 -> f1 -> f2"],
    ["finally -> f0, f1", "all(f0, f1) -> f2"],
    [`finally -> f0 when ${condition}`, "finally -> f1 otherwise", "f0, f1 -> f2"],
    [`finally -> f0 when ${condition}`, "finally -> f1", "all(f0, f1) -> f2"],
    [`finally -> match outcome.status { "completed" -> f0  else -> f1 }`, "f0 -> f2", "f1 -> f2 on error"],
    ["finally -> f0, f1", "f0 -> f2 on error", "all(any(f0, f2), f1) -> end"],
    ["finally -> f0", `f0 -> f1 when ${condition}`, "f0 -> f2 otherwise", "f1 -> f2"],
    ["finally -> f0, f1, f2"],
    [`finally -> f0`, "f0 -> f1, f2", "settled(f1, f2) -> end"],
    ["finally -> f0", "f0 -> f1, f2", `f2 -> f0 when ${flag}`, "f2 -> end otherwise"],
    [`finally -> ${node}, f0`, "f0 -> f1 -> f2"],
    [`finally -> f0 -> f1 -> f2`, `f1 -> ${node} on error`],
  ]);
  added.push(...shape.map((line) => `  ${line}`));
  const of = ["f0", "f1", "f2", node];
  const asserted = new Set<string>();
  for (let count = 2 + random.below(3); count > 0; count--) {
    const [one = "", other = ""] = random.shuffle(of);
    asserted.add(
      `  assert ${random.pick([`${one} before ${other}`, `${one} before each ${other}`, `once ${one}`, `eventually ${one}`, `never ${one} with ${other}`, `${one} before end`])}`,
    );
  }
  added.push(...asserted);
}

/** A configuration decides instead of a condition. */
function configure(lines: string[], random: Random, added: string[]): void {
  const found = lines.flatMap((line, index) =>
    /^ {2}(n\d+|start) -> \w+ when (?!.*\berror\b)/.test(line) ? [index] : [],
  );
  const isNumber = random.chance(0.4);
  added.push(
    isNumber
      ? `  config mode: int = ${random.below(3)}`
      : `  config mode: "x" | "y"${random.chance(0.5) ? ` = "x"` : ""}`,
  );
  const conditions = isNumber ? ["mode > 0", "mode == 1", "mode >= 0"] : [`mode == "x"`, `mode != "x"`, `mode == "y"`];
  for (let count = 1 + random.below(2); count > 0 && found.length > 0; count--) {
    const at = random.pick(found);
    const condition = random.pick(conditions);
    lines[at] = random.chance(0.7)
      ? (lines[at] ?? "").replace(/ when .*$/, ` when ${condition}`)
      : (lines[at] ?? "").replace(/ when (.*)$/, ` when (${random.chance(0.5) ? "!" : ""}(${condition})) && ($1)`);
  }
}
