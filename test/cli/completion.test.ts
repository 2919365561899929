/** The completion of command lines, asked of the shells themselves. Those that are not installed are left out; bash must be. */
import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProject, PROGRAM, type Project } from "./project.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

const TWO = `graph inner {
  output r: string
  node a = \`x\` into r
  start -> a
}
graph outer {
  output r: string
  node a = inner() into { r }
  start -> a
}
`;
/** A thread whose id a careless script would run. */
const STRANGE = "order $(touch made) 7";

const FILES: Readonly<Record<string, string>> = {
  "two.ngraph": TWO,
  "my graph.ngraph": "graph own {\n}\n",
  "spelt.ngraph.yaml": "graph: spelt\nnodes: {}\n",
  "machine.json": "{}",
  "folder/inside.txt": "",
};

/** What a shell offers for the last of the words. */
type Offer = (...words: readonly string[]) => readonly string[];

const OFFERS: readonly (readonly [words: string, offered: readonly string[]])[] = [
  ["ngc exp", ["explain", "export"]],
  ["ngc export --to ", ["asl", "mermaid", "neograph"]],
  ["ngc export two.ngraph --to m", ["mermaid"]],
  ["ngc graph --format s", ["svg"]],
  ["ngc convert --to ", ["ngraph", "yaml"]],
  ["ngc threads --status f", ["failed"]],
  ["ngc serve --host ", ["127.0.0.1"]],
  ["ngc run two.ngraph --graph ", ["inner", "outer"]],
  ["ngc graph spelt.ngraph.yaml --graph ", ["spelt"]],
  ["ngc export --to asl two.ngraph ", ["inner", "outer"]],
  ["ngc export --to asl -o file two.ngraph o", ["outer"]],
  ["ngc check m", ["my graph.ngraph"]],
  ["ngc check two.ngraph s", ["spelt.ngraph.yaml"]],
  ["ngc import m", ["machine.json", "my graph.ngraph"]],
  ["ngc compile --out f", ["folder"]],
  ["ngc compile --out t", []],
  ["ngc completion ", ["bash", "fish", "zsh"]],
  ["ngc tools s", ["sync"]],
  ["ngc history o", [STRANGE]],
  ["ngc graph --thread o", [STRANGE]],
  ["ngc run two.ngraph --max-steps ", []],
  ["ngc label thread ", []],
];

function prepare(): Project {
  const wrapper = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
  const project = createProject({ ...FILES, "bin/ngc": wrapper });
  chmodSync(join(project.directory, "bin/ngc"), 0o755);
  expect(project.ngc(["run", "two.ngraph", "--thread", STRANGE]).status).toBe(0);
  return project;
}

function scriptOf({ ngc }: Project, shell: string): string {
  const { status, stdout } = ngc(["completion", shell]);
  expect(status).toBe(0);
  return stdout;
}

function runIn({ directory }: Project, shell: string, script: string): string {
  // A shell reads its settings and writes its history below its home.
  const home = { HOME: directory, XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined };
  const env = { ...process.env, ...home, PATH: `${join(directory, "bin")}:${process.env["PATH"] ?? ""}` };
  const { stdout, stderr, status } = spawnSync(shell, ["-c", script], { encoding: "utf8", cwd: directory, env });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** Calls the function as bash does, which divides a word at `=`. */
function bashOffers(project: Project): Offer {
  const script = scriptOf(project, "bash");
  return (...words) => {
    const given = words.map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(${given}); COMP_CWORD=${words.length - 1}; _ngc`;
    const print = `for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`;
    const offered = runIn(project, "bash", `${script}\n${ask}\n${print}`).split("\n");
    return offered.filter((each) => each !== "").map((each) => each.replaceAll(/\\(.)/g, "$1"));
  };
}

function fishOffers(project: Project): Offer {
  const script = scriptOf(project, "fish");
  return (...words) => {
    const offered = runIn(project, "fish", `${script}\ncomplete -C '${words.join(" ")}'`).split("\n");
    return offered.flatMap((line) => (line === "" ? [] : [line.split("\t")[0]?.replace(/\/$/, "") ?? ""]));
  };
}

describe("values", { timeout: 240_000 }, () => {
  test.each([["bash", bashOffers] as const, ["fish", fishOffers] as const])("%s", (shell, offersOf) => {
    if (shell !== "bash" && !isInstalled(shell)) return;
    const project = prepare();
    const offers = offersOf(project);
    const found = OFFERS.map(([line]) => [line, offers(...line.split(" ")).toSorted()]);
    expect(found).toEqual(OFFERS);
    expect(project.has("made")).toBe(false);
  });

  test("bash: a value behind `=`", () => {
    const offers = bashOffers(prepare());
    expect(offers("ngc", "export", "--to", "=")).toEqual(["neograph", "asl", "mermaid"]);
    expect(offers("ngc", "export", "--to", "=", "a")).toEqual(["asl"]);
    expect(offers("ngc", "export", "--to", "=", "asl", "two.ngraph", "i")).toEqual(["inner"]);
  });
});

test.each(SHELLS)("%s: the script has every command and its options", (shell) => {
  const project = createProject();
  const script = scriptOf(project, shell);
  for (const name of ["check", "resume", "import", "completion"]) expect(script).toContain(name);
  expect(script).toContain(shell === "fish" ? "-l max-steps" : "--max-steps");
  for (const format of ["mermaid", "neograph"]) expect(script).toContain(format);
  expect(script).not.toContain("undefined");
  if (!isInstalled(shell)) return;
  project.write("script", script);
  const { status, stderr } = spawnSync(shell, ["-n", "script"], { cwd: project.directory, encoding: "utf8" });
  expect(status, stderr).toBe(0);
});

test("refuses other shells", () => {
  expect(createProject().ngc(["completion", "cmd"])).toMatchObject({ status: 64 });
});
