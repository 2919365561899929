import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { VERSION } from "../start/version.ts";
import { writeAtomically } from "../output/write-atomically.ts";

export const newCommand = defineCommand<object>({
  usage: "new <directory>",
  summary: "create a starter project with a graph and its node functions",
  run: ([directory = ""], _, output) => {
    // Resolved as for writing: `a/../b` is `b`, even if `a` does not exist.
    if (directory === "") throw new CommandError("the name of the directory is empty");
    const target = resolve(directory);
    if (existsSync(target) && !statSync(target).isDirectory()) {
      throw new CommandError(`${directory} is a file`, { help: "name a directory that does not exist yet" });
    }
    if (existsSync(target) && readdirSync(target).length > 0) {
      throw new CommandError(`${directory} is not empty`, { help: "name a directory that does not exist yet" });
    }
    const files = starterFiles(basename(target));
    for (const [name, text] of files) writeAtomically(join(target, name), text);
    output.document({ version: 1, directory, files: files.map(([name]) => name) });
    output.result(`wrote ${files.map(([name]) => name).join(", ")} to ${directory}`);
    // With `npx`, `ngc` is not in the PATH.
    const ngc = process.env["npm_command"] === "exec" ? "npx ngc" : "ngc";
    const path = directory.startsWith("-") ? `./${directory}` : directory;
    output.note(`try: cd ${quoteArgument(path)} && ${ngc} run greeting.ngraph --input '{"name": "Ada"}'`);
    return EXIT.ok;
  },
});

function starterFiles(directory: string): [name: string, text: string][] {
  const name =
    directory
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+|-+$/g, "") || "graphs";
  const manifest = {
    name,
    private: true,
    type: "module",
    scripts: { check: "ngc check .", start: "ngc run greeting.ngraph" },
    devDependencies: { ngraph: `^${VERSION}` },
  };
  return [
    ["greeting.ngraph", GRAPH],
    ["nodes.ts", NODES],
    ["package.json", `${JSON.stringify(manifest, null, 2)}\n`],
    [".gitignore", "node_modules/\n.ngraph/\n"],
  ];
}

const GRAPH = `import { writeGreeting, countWords } from "./nodes.ts"

/// Writes a greeting, and asks a person before it goes out. Too long ones are written again, at most three times.
graph greeting {
  input  name: string = "world"
  output text: string

  state words: int = 0
  state rounds: int = 0
  state verdict: "send" | "again"

  node write  = writeGreeting(name, rounds) into text
  node count  = countWords(text) into words
  node round  = rounds + 1 into rounds
  node review = ask(\`Send this?\\n\${text}\`) into verdict

  assert review before end

  start -> write -> count, round
  all(count, round) -> decide
  node decide = words <= 5
  decide -> write  when words > 5 && rounds < 3
  decide -> review otherwise
  review -> match verdict { "send" -> end  "again" -> write }
}
`;

const NODES = `/** Node functions are plain TypeScript: they know nothing of the engine. */
const GREETINGS = [
  "A very warm and most cordial welcome to you, NAME!",
  "It is good to see you, NAME!",
  "Hello, NAME!",
];

export function writeGreeting(name: string, round: number): string {
  const greeting = GREETINGS[Math.min(round, GREETINGS.length - 1)] ?? "";
  return greeting.replace("NAME", name);
}

export function countWords(text: string): number {
  return text.split(/\\s+/).filter((word) => word !== "").length;
}
`;
