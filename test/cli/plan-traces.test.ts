/**
 * Random plans with called plans, paths, `alone`, a worktree and cached outputs, run by the built program in one tree: several programs at
 * once, killed with SIGKILL, continued with `run` and `resume`. Between the runs commands and inputs are edited, outputs and the
 * directories of the runs deleted. Each command looks for itself whether another one lives that it must not meet, so that the check holds
 * across all processes. At the end all outputs are those of the present inputs and commands.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { randomFrom } from "../grammar/random-file.ts";
import { scale } from "../support/depth.ts";
import { createProject, type Project } from "./project.ts";

const PARALLEL = 3;
/** `work.sh NAME alone|shared KEY…`. A process that has ended and is not collected yet counts as dead. */
const WORK = `#!/bin/sh
name=$1; mode=$2; shift 2
alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
wrong() { echo "$*" >> "$STATE/wrong"; }
for key in "$@"; do
  holder=$(cat "$STATE/holder.$key" 2>/dev/null)
  if alive "$holder"; then wrong "$name met the holder of $key"; fi
  echo $$ > "$STATE/holder.$key"
done
beside=0
for file in "$STATE"/running/*; do
  how=$(cat "$file" 2>/dev/null)
  if alive "\${file##*/}" && [ -n "$how" ]; then
    beside=$((beside + 1))
    if [ "$how" = alone ]; then wrong "$name ran beside a task that is alone"; fi
  fi
done
if [ "$mode" = alone ] && [ $beside -gt 0 ]; then wrong "$name was not alone"; fi
if [ $beside -ge ${PARALLEL} ]; then wrong "$name was one too many"; fi
echo $mode > "$STATE/running/$$"
sleep 0.15
echo "$name" >> "$STATE/finished"
for key in "$@"; do rm -f "$STATE/holder.$key"; done
rm -f "$STATE/running/$$"
`;

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

interface MadePlan {
  readonly text: string;
  readonly names: readonly string[];
  /** The numbers of the cached tasks, and what their commands write behind the input. */
  readonly cached: ReadonlyMap<number, string>;
}

/** `version`: changes the text of some commands, and nothing else. */
function planOf(random: Random, version: number): MadePlan {
  const names: string[] = [];
  const cached = new Map<number, string>();
  const command = (name: string, mode: string, keys: readonly string[], edits: boolean): string => {
    names.push(name);
    return `shell("sh $STATE/work.sh ${name} ${mode} ${keys.join(" ")}${edits ? ` # ${version}` : ""}")`;
  };
  const tasks: string[] = [];
  for (let at = 0; at < 6; at++) {
    const after = at > 0 && random() < 0.5 ? ` after t${Math.floor(random() * at)}` : "";
    const edits = random() < 0.3;
    const kind = random();
    const key = pick(random, ["a", "b", "c/d"]);
    const name = `t${at}`;
    if (kind < 0.25) {
      tasks.push(`task ${name} = inner()${after}`);
    } else if (kind < 0.4) tasks.push(`task ${name} = ${command(name, "alone", [], edits)}${after} { alone }`);
    else if (kind < 0.55) {
      const file = `w${at}.txt`;
      const call = command(name, "shared", [], edits)
        .replace('")', `; echo ${at} > ${file}")`)
        .replace(/ # \d+;/, ";");
      tasks.push(`task ${name} = ${call}${after} { worktree touches "${file}" }`);
    } else if (kind < 0.75) {
      const end = edits ? `v${version}` : "v";
      const call = command(name, "shared", [], false).replace(
        '")',
        `; mkdir -p o${at}; echo $(cat i${at}) ${end} > o${at}/file")`,
      );
      tasks.push(`task ${name} = ${call}${after} { cache inputs "i${at}" outputs "o${at}/**" }`);
      cached.set(at, end);
    } else
      tasks.push(
        `task ${name} = ${command(name, "shared", [key.replace("/", "-")], edits)}${after} { touches "${key}" }`,
      );
  }
  const inner = `plan inner {
  task one = ${command("one", "shared", ["a"], false)} { touches "a" }
  task two = ${command("two", "shared", ["c-d"], false)} { touches "c/**" }
}`;
  const called = tasks.some((task) => task.includes("inner()"));
  return {
    text: `plan main {\n  max parallel ${PARALLEL}\n  ${tasks.join("\n  ")}\n}\n${called ? inner : ""}\n`,
    names: called ? names : names.slice(0, -2),
    cached,
  };
}

const ended = (child: ReturnType<Project["start"]>): Promise<number | null> =>
  new Promise((done) => child.once("close", (code) => done(code)));

test.each(scale([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2]))(
  "no command of seed %i meets another that it must not meet",
  { timeout: 300_000 },
  async (seed) => {
    const project = createProject({
      "state/work.sh": WORK,
      "state/running/.keep": "",
      ".gitignore": "state\n.ngraph\n",
    });
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
        cwd: project.directory,
        stdio: "ignore",
      });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "start");
    const env = { STATE: `${project.directory}/state` };
    const random = randomFrom(seed * 7919);
    const inputs = new Map<number, string>();
    const setInput = (at: number): void => {
      // Of few values, so that results of earlier runs are used again.
      inputs.set(at, pick(random, ["one", "two"]));
      project.write(`i${at}`, inputs.get(at)!);
    };
    for (const at of planOf(randomFrom(seed), 0).cached.keys()) setInput(at);
    let thread = "";
    for (let round = 0; round < 4; round++) {
      // The same plan, with other texts of some commands.
      project.write("p.ngraph", planOf(randomFrom(seed), round).text);
      const isNew = thread === "" || random() < 0.5;
      if (isNew) thread = `t${round}`;
      const first = project.start(isNew ? ["run", "p.ngraph", "--thread", thread] : ["resume", thread], env);
      // Also from a directory of the same tree.
      const [place, file] = random() < 0.5 ? [project, "p.ngraph"] : [project.below("sub"), "../p.ngraph"];
      const second = random() < 0.5 ? place.start(["run", file, "--thread", `other${round}`], env) : undefined;
      const kills = setTimeout(
        () => {
          first.kill("SIGKILL");
          second?.kill("SIGKILL");
        },
        300 + random() * 900,
      );
      await Promise.all([ended(first), ...(second === undefined ? [] : [ended(second)])]);
      clearTimeout(kills);
      // The store still knows the commands of the killed runs.
      if (random() < 0.5) rmSync(`${project.directory}/.ngraph/runs`, { recursive: true, force: true });
      for (const at of inputs.keys()) {
        if (random() < 0.5) setInput(at);
        if (random() < 0.3) rmSync(`${project.directory}/o${at}`, { recursive: true, force: true });
      }
    }
    const { text, names, cached } = planOf(randomFrom(seed), 3);
    project.write("p.ngraph", text);
    const resumed = project.ngc(["resume", thread], { env });
    const last = resumed.status === 0 ? resumed : project.ngc(["run", "p.ngraph", "--thread", "last"], { env });
    expect(last.status, last.stderr).toBe(0);
    expect(project.has("state/wrong") ? project.read("state/wrong") : "").toBe("");
    const finished = new Set(project.read("state/finished").trim().split("\n"));
    for (const name of names) expect(finished).toContain(name);
    // A resume keeps what was done; a run makes everything for the present inputs.
    const fresh = project.ngc(["run", "p.ngraph", "--thread", "fresh"], { env });
    expect(fresh.status, fresh.stderr).toBe(0);
    for (const [at, end] of cached) expect(project.read(`o${at}/file`)).toBe(`${inputs.get(at)} ${end}\n`);
  },
);
