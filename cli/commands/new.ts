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
  summary: "create a starter project: a graph, its node functions, a program and a test",
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
    // With `npx`, `ngc` is not in the PATH. Without the name of the package, npx would load another one that is called ngc.
    const ngc = process.env["npm_command"] === "exec" ? "npx --package ngraph ngc" : "ngc";
    const path = directory.startsWith("-") ? `./${directory}` : directory;
    output.note(`try: cd ${quoteArgument(path)} && npm install && npm test && npm start Ada`);
    output.note(
      `without an installation: cd ${quoteArgument(path)} && ${ngc} run greeting.ngraph --input '{"name": "Ada"}'`,
    );
    return EXIT.ok;
  },
});

function starterFiles(directory: string): [name: string, text: string][] {
  const manifest = {
    name: packageName(directory),
    private: true,
    type: "module",
    scripts: {
      check: "ngc check .",
      typecheck: "ngc types . && tsc",
      test: "ngc check . && npm run typecheck && node --import ngraph/register greeting.test.ts",
      start: "node --import ngraph/register app.ts",
    },
    dependencies: { ngraph: `^${VERSION}` },
    devDependencies: { "@types/node": "^22.0.0", typescript: "^7.0.2" },
  };
  return [
    ["greeting.ngraph", GRAPH],
    ["nodes.ts", NODES],
    ["app.ts", APP],
    ["greeting.test.ts", TEST],
    ["tsconfig.json", TSCONFIG],
    ["README.md", readme(manifest.name)],
    ["package.json", `${JSON.stringify(manifest, null, 2)}\n`],
    [".gitignore", "node_modules/\n.ngraph/\nruns.db*\n*.d.ngraph.ts\n*.d.ngraph.ts.map\n"],
  ];
}

/** Letters with marks become those without: `uni` for `Ünï`. A name without any Latin letter or digit has no such form. */
function packageName(directory: string): string {
  const name = directory
    .normalize("NFKD")
    .replace(/\p{Mark}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "")
    .slice(0, MAX_PACKAGE_NAME);
  return name === "" || NO_PACKAGE_NAMES.has(name) ? "graphs" : name;
}

/** Of npm. */
const MAX_PACKAGE_NAME = 214;
const NO_PACKAGE_NAMES: ReadonlySet<string> = new Set(["node_modules", "favicon.ico"]);

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

const NODES = `/** Node functions are plain TypeScript. They do not depend on the engine. */
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

const APP = `/** Runs the graph, and asks its questions on the terminal: npm start Ada */
import { createInterface } from "node:readline";
import { SqliteStore } from "ngraph/stores/sqlite";
import { greeting } from "./greeting.ngraph";

const store = new SqliteStore("runs.db");
const engine = greeting({ store });
const thread = crypto.randomUUID();
let result = await engine.run({ name: process.argv[2] ?? "world" }, { thread });

const terminal = createInterface(process.stdin);
const lines = terminal[Symbol.asyncIterator]();
while (result.status === "paused") {
  const [pause] = result.pauses;
  const question = pause?.kind === "interrupt" ? pause.payload.question : "Continue?";
  console.log(\`\${question}\\n(send or again)\`);
  const { value: line, done } = await lines.next();
  if (done === true) {
    console.error(\`no answer yet: the run waits in runs.db as thread \${thread}\`);
    process.exit(3);
  }
  const answer = line.trim();
  if (answer === "send" || answer === "again") result = await engine.resume(thread, { answer });
}
terminal.close();
store.close();

if (result.status === "completed") console.log(result.output.text);
else throw new Error(\`the run ended as \${result.status}\`, { cause: result.error });
`;

const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "ngraph/runtime";
import { greeting } from "./greeting.ngraph";

test("a greeting waits for an answer before it is sent", async () => {
  const engine = greeting({ store: new MemoryStore() });
  const waiting = await engine.run({ name: "Ada" }, { thread: "t" });
  assert.equal(waiting.status, "paused");
  const done = await engine.resume("t", "send");
  assert.equal(done.status, "completed");
  assert.match(done.output.text ?? "", /Ada/);
});

test("a greeting that stays too long is written again, at most three times", async () => {
  // A mock replaces the call of a node.
  const engine = greeting({ store: new MemoryStore(), mocks: { write: () => "much too long for a greeting" } });
  const { steps } = await engine.run({}, { thread: "t" });
  assert.equal(steps.flat().filter((node) => node === "write").length, 3);
});
`;

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    // Node runs the TypeScript files: imports name them as they are.
    "allowImportingTsExtensions": true,
    "noEmit": true,
    // Types of \`import … from "./greeting.ngraph"\`: ngc types writes greeting.d.ngraph.ts.
    "allowArbitraryExtensions": true
  },
  "include": ["*.ts"]
}
`;

const readme = (name: string): string => `# ${name}

| | |
|---|---|
| \`npm install\` | installs ngraph and TypeScript |
| \`npm test\` | checks the graph, writes its types, type-checks the project, runs the tests |
| \`npm start Ada\` | runs the graph, which asks before it sends a greeting |
| \`npx ngc graph greeting.ngraph -o greeting.svg\` | draws the graph |

\`greeting.ngraph\` is the graph, \`nodes.ts\` has its functions, \`app.ts\` runs it, and \`greeting.test.ts\` tests it. Nothing needs the network after the installation.
`;
