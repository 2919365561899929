/** Inputs that try to hang, crash or deceive the command line. Each is one command in a directory of its own. */

import type { HostileInput } from "./hostile-input.ts";
import { COMMAND_HOSTILE_INPUTS } from "./command-hostile-inputs.ts";
import { MORE_HOSTILE_INPUTS } from "./more-hostile-inputs.ts";
import { THREAD_HOSTILE_INPUTS } from "./thread-hostile-inputs.ts";

const GRAPH = "graph g {\n  output o: int\n  node n = 1 into o\n  start -> n\n}\n";
const OK = { "a.ngraph": GRAPH };

/** Sources that are long, nested or repetitive. The sizes stay below the limit of a source file. */
const MANY = 130_000;
const times = (count: number, item: (index: number) => string, separator = ""): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);

const LARGE: Readonly<Record<string, string>> = {
  "a long list": `graph g {\n state s: json = [${times(MANY, () => "1", ",")}]\n node a = 1\n start -> a\n}`,
  "many targets": `graph g {\n node a = 1\n start -> ${times(MANY, () => "a", ", ")}\n}`,
  "a long template": `graph g {\n node a = \`${times(MANY, () => "${1}")}\`\n start -> a\n}`,
  "many arguments": `graph g {\n node a = min(${times(MANY, () => "1", ",")})\n start -> a\n}`,
  "a large record": `graph g {\n node a = { ${times(60_000, (i) => `k${i}: 1`, ",")} }\n start -> a\n}`,
  "many conditions": `graph g {\n state s: bool = true\n node a = 1\n start -> a when ${times(MANY, () => "s", " && ")}\n}`,
  "a large union": `type T = ${times(MANY, (i) => `"a${i}"`, " | ")}\ngraph g {\n state s: T = "a1"\n node a = 1\n start -> a\n}`,
  "a long `in` list": `graph g {\n input s: string = ""\n node a = s in [${times(MANY, (i) => `"a${i}"`, ",")}]\n start -> a\n}`,
  "many members of a barrier": `graph g {\n node a = 1\n node b = 1\n start -> a\n all(${times(100_000, () => "a", ", ")}) -> b\n}`,
  "many unknown names": `graph g {\n${times(30_000, (i) => ` node a${i} = x${i}\n`)} start -> a1\n}`,
  "many imports": `import { ${times(60_000, (i) => `f${i}`, ", ")} } from "./none.ts"\n${GRAPH}`,
  "many comments": `graph g {\n node a = 1\n start -> a\n${times(MANY, () => "// x\n")}}`,
  "nested parentheses": `graph g {\n node a = ${"(".repeat(50_000)}1${")".repeat(50_000)}\n start -> a\n}`,
  "nested lists": `graph g {\n node a = ${"[".repeat(50_000)}${"]".repeat(50_000)}\n start -> a\n}`,
  "nested types": `type T = ${"(".repeat(50_000)}int${")".repeat(50_000)}\n${GRAPH}`,
  "many opening braces": "{".repeat(200_000),
  "many quotes": '"'.repeat(200_001),
  "many backticks": "`${".repeat(100_000),
  "one long line": `graph g { // ${"x".repeat(3_000_000)}\n node a = 1\n start -> a\n}`,
  "one long name": `graph ${"x".repeat(1_000_000)} {\n node a = 1\n start -> a\n}`,
  "a long number": `graph g {\n node a = ${"9".repeat(1_000_000)}\n start -> a\n}`,
  "called graphs, twice in each": `${times(40, (i) => `graph g${i} {\n node n = g${i + 1}()\n node m = g${i + 1}()\n start -> n, m\n}\n`)}graph g40 {\n node n = 1\n start -> n\n}`,
  "called graphs, crosswise": `${times(25, (i) => ["a", "b"].map((s) => `graph g${i}${s} {\n node n = g${i + 1}a()\n node m = g${i + 1}b()\n start -> n, m\n}\n`).join(""))}graph g25a {\n node n = 1\n start -> n\n}\ngraph g25b {\n node n = 2\n start -> n\n}`,
  "more than 4 MiB": `// ${"x".repeat(5_000_000)}`,
};

const YAML: Readonly<Record<string, string>> = {
  "aliases that multiply": `a: &a [x,x,x,x,x,x,x,x,x]\n${times(12, (i) => `b${i}: &b${i} [*${i === 0 ? "a" : `b${i - 1}`},*${i === 0 ? "a" : `b${i - 1}`}]\n`)}`,
  "an alias of itself": "graph: g\nnodes: &n\n  a: *n\n",
  "a JavaScript tag": "graph: !!js/function 'function () { throw 1 }'\n",
  "an unknown tag": "graph: !evil g\n",
  "a binary tag": "graph: !!binary aGk=\n",
  "a duplicate key": "graph: g\ngraph: h\n",
  "a merge key": "graph: g\n<<: { nodes: { a: 1 } }\n",
  "a prototype key": "__proto__: { x: 1 }\ngraph: g\nnodes:\n  __proto__: 1\nedges:\n  - start -> __proto__\n",
  nesting: `graph: ${"[".repeat(20_000)}`,
  "nested maps": times(3000, (i) => `${" ".repeat(i)}a:\n`),
  "a tab as indentation": "graph: g\nnodes:\n\ta: 1\n",
  "an unknown version": "%YAML 9.9\n---\ngraph: g\n",
  "a null document": "---\n---\n---\n",
  "a number as document": "42\n",
  "control characters": 'graph: "g\\u001b[31m"\nnodes:\n  a: "\\u202e"\n',
  "a long list": `graph: g\nstate:\n  s: { type: json, default: [${times(MANY, () => "1", ",")}] }\nnodes:\n  a: 1\nedges:\n  - start -> a\n`,
  "a long key": `? ${"x".repeat(500_000)}\n: 1\n`,
};

/** Characters that act on a terminal, change the direction of text, or end lines. */
const CHARACTERS = [
  "\u0000",
  "\u0007",
  "\u001b[31m",
  "\u001b]0;x\u0007",
  "\u007f",
  "\u009b31m",
  "\u202e",
  "\u2066",
  "\u200f",
  "\u2028",
  "\ufeff",
  "\r",
];
const FORMATS = ["plain", "pretty", "json", "github", "sarif"];

const SPECIFIERS = [
  "data:text/javascript,export const f = () => 1",
  "data:,x",
  "file:///etc/passwd",
  "http://127.0.0.1/x.js",
  "https://example.com/x.js",
  "ftp://h/x",
  "javascript:alert(1)",
  "blob:x",
  "\\\\\\\\srv\\\\x",
  "//srv/x.js",
  "",
  " ",
  "../../../../../../etc/passwd",
  "/etc/passwd",
  "./",
  ".",
  "./a.ngraph",
  "node:fs/../x",
  "\u202e./x.ts",
];

/** Names that are words of JavaScript or of its prototypes. */
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "prototype",
  "arguments",
  "eval",
  "await",
  "enum",
];

/** Values that a node returns, and statements that it runs: as the body of a function. */
const BODIES: Readonly<Record<string, string>> = {
  undefined: "return undefined",
  "a function": "return () => 1",
  "a symbol": "return Symbol('x')",
  "a bigint": "return 1n",
  NaN: "return NaN",
  "a date": "return new Date()",
  "a map": "return new Map()",
  "a cycle": "const a: any = {}; a.a = a; return a",
  "a getter that throws": "return { get x() { throw new Error('got') } }",
  "a proxy that throws": "return new Proxy({}, { ownKeys() { throw new Error('trap') } })",
  "a proxy without end": "return new Proxy([], { get: (_, key) => (key === 'length' ? 1e9 : 0) })",
  "deep nesting": "let a: unknown = 1; for (let i = 0; i < 1e5; i++) a = [a]; return a",
  "shared parts": "let a: unknown = 1; for (let i = 0; i < 40; i++) a = [a, a]; return a",
  "a prototype": 'return JSON.parse(\'{"__proto__": {"x": 1}}\')',
  "a toJSON": "return { toJSON: () => 1 }",
  "a class": "return new (class X { y = 1 })()",
  "a thenable": "return { then(resolve: (x: number) => void) { resolve(1) } }",
  "a thenable that throws": "return { get then() { throw new Error('then') } }",
  "a promise without end": "return new Promise(() => {})",
  "null thrown": "throw null",
  "undefined thrown": "throw undefined",
  "a symbol thrown": "throw Symbol('s')",
  "an object without text thrown": "throw { toString() { throw new Error('x') } }",
  "a null prototype thrown": "throw Object.create(null)",
  "an error with a broken message":
    "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
  "an error with a broken stack":
    "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
  "an error with control characters": "throw new Error('\\u001b[31mred\\u202e\\u0007')",
  "a long message": "throw new Error('m'.repeat(5e6))",
  "an error that causes itself": "const e: any = new Error('x'); e.cause = e; throw e",
  "a stack overflow": "const f = (): number => f() + 1; return f()",
  "an aggregate error": "throw new AggregateError([new Error('a'), 1, null])",
  "process.exit": "process.exit(0)",
  "an exit code": "process.exitCode = 7; return 1",
  "a rejected promise": "void Promise.reject(new Error('floating')); return 1",
  "a timer that throws":
    "setTimeout(() => { throw new Error('late') }, 1); await new Promise((r) => setTimeout(r, 100)); return 1",
  "the end of stdout": "process.stdout.end(); return 1",
  "a destroyed stdout": "process.stdout.destroy(); return 1",
  "another write": "process.stdout.write = () => true; return 1",
  "no Array.prototype.map": "(Array.prototype as any).map = () => { throw new Error('map') }; return 1",
  "no JSON.stringify": "JSON.stringify = () => { throw new Error('json') }; return 1",
  "no process.nextTick": "(process as any).nextTick = () => { throw new Error('tick') }; return 1",
  "a polluted Object.prototype": "(Object.prototype as any).polluted = 1; return 1",
  "a changed directory": "process.chdir('/'); return 1",
  "a deleted store": "(await import('node:fs')).rmSync('.ngraph', { recursive: true }); return 1",
  "control characters on stdout": "console.log('printed'); return 'x\\u001b[2J\\u202e'",
};

/** The first call of `process.nextTick` comes from Node, before or after the end of the run. */
const TIMED_RESULTS: ReadonlySet<string> = new Set(["no process.nextTick"]);

const STORES: Readonly<Record<string, string>> = {
  "a directory": "mkdir s.db",
  "a pipe": "mkfifo s.db",
  "an empty file": ": > s.db",
  "a text": "echo hello > s.db",
  zeros: "head -c 100000 /dev/zero > s.db",
  "random bytes": "head -c 100000 /dev/urandom > s.db",
  "a dangling link": "ln -s /nowhere/x s.db",
  "a link to itself": "ln -s s.db s.db",
  "a SQLite header": "printf 'SQLite format 3\\000' > s.db; head -c 5000 /dev/zero >> s.db",
};

const URLS = [
  "postgres:u:Hunter2PW@127.0.0.1/x",
  "postgres://u:Hunter2PW@127.0.0.1:1/x",
  "postgres://u:Hunter2PW@127.0.0.1:99999/x",
  "postgres://u:a/Hunter2PW@127.0.0.1:1/x",
  "postgres://127.0.0.1:1/x?password=Hunter2PW",
  "mysql://u:Hunter2PW@h/x",
  "sqlite:",
  "memory:",
  "\u001b[31m",
];

const COMMANDS: readonly (readonly string[])[] = [
  ["check"],
  ["compile"],
  ["run"],
  ["resume"],
  ["history"],
  ["show"],
  ["fork"],
  ["label", "x"],
  ["update", "x"],
  ["delete"],
  ["prune", "--keep-last", "1"],
  ["fmt"],
  ["convert"],
  ["graph"],
  ["plan"],
  ["explain"],
  ["new"],
  ["help"],
  [],
];

const INPUTS: Readonly<Record<string, string>> = {
  "no JSON": "{",
  "a prototype": '{"__proto__": {"x": 1}}',
  "deep nesting": "[".repeat(100_000),
  "a deep record": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  "a large number": '{"x": 1e999}',
  "a duplicate key": '{"x": 1, "x": 2}',
  "a list": "[]",
  "an escape sequence": '{"\\u001b[31m": 1}',
  "a long name": `{"${"x".repeat(100_000)}": 1}`,
};

const EXPRESSIONS: Readonly<Record<string, string>> = {
  "a search in each round": "len([x for x in range(1000000) if x in range(1000000)])",
  "nested rounds": "len([1 for x in range(100000) if len([1 for y in range(100000)]) > 1])",
  "a long range": "len(range(1000000000))",
  "an endless range": "len(range(9007199254740991))",
  "a costly pattern": 'matches(join([("a") for x in range(100000)], ""), "(a*)*(a*)*b")',
  "a sort in each round": "len([1 for x in range(100000) if len(sort(range(100000))) > 1])",
  "a long text": 'len(join([("aaaaaaaaaaaaaaaa") for x in range(1000000)], "aaaaaaaaaaaaaaaa"))',
  "division by zero": "1 / 0",
  "an overflow": "9007199254740991 * 9007199254740991",
};

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  ...entries(LARGE, (name, text) => [
    { name: `check: ${name}`, files: { "a.ngraph": text }, args: ["check", "a.ngraph"] },
    { name: `compile: ${name}`, files: { "a.ngraph": text }, args: ["compile", "a.ngraph", "--out", "out"] },
    { name: `fmt: ${name}`, files: { "a.ngraph": text }, args: ["fmt", "--check", "a.ngraph"] },
  ]),
  {
    name: "graph: many edges as SVG",
    files: { "a.ngraph": LARGE["many unknown names"] ?? "" },
    args: ["graph", "a.ngraph", "--format", "svg"],
  },
  {
    name: "compile to JSON: called graphs, crosswise",
    files: { "a.ngraph": LARGE["called graphs, crosswise"] ?? "" },
    args: ["compile", "a.ngraph", "--target", "json"],
  },
  {
    name: "run: called graphs, crosswise",
    files: { "a.ngraph": LARGE["called graphs, crosswise"] ?? "" },
    args: ["run", "a.ngraph", "--graph", "g0a", "--store", "memory"],
  },
  ...entries(YAML, (name, text) => [
    { name: `check YAML: ${name}`, files: { "a.ngraph.yaml": text }, args: ["check", "a.ngraph.yaml"] },
    { name: `convert YAML: ${name}`, files: { "a.ngraph.yaml": text }, args: ["convert", "a.ngraph.yaml"] },
  ]),
  ...CHARACTERS.flatMap((character) =>
    FORMATS.map((format) => ({
      name: `check --format ${format}: ${JSON.stringify(character)} in a source`,
      files: {
        "a.ngraph": `graph g {\n  node a${character} = "${character}" // ${character}\n  start -> b${character}\n}\n`,
      },
      args: ["check", "a.ngraph", "--format", format],
    })),
  ),
  ...CHARACTERS.slice(1).map((character) => ({
    name: `a path with ${JSON.stringify(character)}`,
    args: ["check", `${character}.ngraph`],
  })),
  ...SPECIFIERS.map((specifier) => ({
    name: `import from ${JSON.stringify(specifier)}`,
    files: { "a.ngraph": `import { f } from "${specifier}"\ngraph g {\n  node n = f()\n  start -> n\n}\n` },
    args: ["check", "a.ngraph"],
  })),
  ...NAMES.flatMap((name) => [
    {
      name: `run: the name ${name}`,
      files: {
        "a.ngraph": `graph g {\n  output ${name}: int\n  node ${name}_ = 1 into ${name}\n  start -> ${name}_\n}\n`,
      },
      args: ["run", "a.ngraph", "--store", "memory", "--json", "--quiet"],
    },
    {
      name: `compile: the name ${name}`,
      files: { "a.ngraph": `graph ${name} {\n  output o: int\n  node ${name} = 1 into o\n  start -> ${name}\n}\n` },
      args: ["compile", "a.ngraph"],
    },
  ]),
  ...entries(BODIES, (name, body) => [
    {
      name: `a node with ${name}`,
      hasTimedMessage: TIMED_RESULTS.has(name),
      files: {
        "nodes.ts": `export async function f(): Promise<unknown> {\n  ${body}\n}\n`,
        "a.ngraph":
          'import { f } from "./nodes.ts"\ngraph g {\n  output o: json\n  node n = f() into o\n  start -> n\n}\n',
      },
      args: ["run", "a.ngraph", "--thread", "t", "--quiet"],
    },
  ]),
  ...["none", "net", "shell,files"].map((allow) => ({
    name: `--allow ${allow} before code runs`,
    files: {
      "nodes.ts": 'console.log("TOP LEVEL RAN");\nexport const f = () => 1;\n',
      "a.ngraph": 'import { f } from "./nodes.ts"\ngraph g {\n  node n = f()\n  start -> n\n}\n',
    },
    args: ["run", "a.ngraph", "--store", "memory", "--allow", allow],
  })),
  ...["net:", "net:*", "net:a/b", "net:u@h", "net:*.*", "net:\u202eh", "net:http://h", "net:h:99999", "net:[::1"].map(
    (allow) => ({
      name: `--allow ${JSON.stringify(allow)}`,
      files: OK,
      args: ["run", "a.ngraph", "--store", "memory", "--allow", allow],
    }),
  ),
  ...entries(
    {
      "none allowed": '{"allow": []}',
      "a text": '{"allow": "net"}',
      "no JSON": "{",
      "a list": "[]",
      null: "null",
      "a prototype": '{"__proto__": {"allow": []}}',
      "an unknown field": '{"\\u001ballow": []}',
      "an unknown effect": '{"allow": ["\\u001beverything"]}',
      "a record as an effect": '{"allow": [{}]}',
      nesting: "[".repeat(100_000),
    },
    (name, text) => [
      {
        name: `ngraph.json: ${name}`,
        files: {
          "ngraph.json": text,
          "nodes.ts": 'console.log("TOP LEVEL RAN");\nexport const f = () => 1;\n',
          "a.ngraph": 'import { f } from "./nodes.ts"\ngraph g {\n  node n = f()\n  start -> n\n}\n',
        },
        args: ["run", "a.ngraph", "--store", "memory"],
      },
    ],
  ),
  ...["check .", "fmt --check .", "compile . --out o", "check x.ngraph", "run x.ngraph --store memory"].map((line) => ({
    name: `${line}: a link to itself`,
    setup: "ln -s x.ngraph x.ngraph",
    files: OK,
    args: line.split(" "),
  })),
  {
    name: "import of a link to itself",
    setup: "ln -s nodes.ts nodes.ts",
    files: { "a.ngraph": 'import { f } from "./nodes.ts"\ngraph g {\n  node n = f()\n  start -> n\n}\n' },
    args: ["check", "a.ngraph"],
  },
  ...[
    "fs.truncateSync('s.db')",
    "fs.writeFileSync('s.db', 'garbage')",
    "fs.rmSync('s.db'); fs.writeFileSync('s.db', '')",
  ].map((code) => ({
    name: `a node that damages the store: ${code}`,
    // In a store with some threads, the pages of the file are not all in the write-ahead log.
    setup: 'for t in 1 2 3 4 5 6; do "$0" "$1" run b.ngraph --store sqlite:s.db --thread u$t -q; done',
    files: {
      "nodes.ts": `import fs from "node:fs";\nexport const f = () => { ${code}; return 1; };\n`,
      "a.ngraph":
        'import { f } from "./nodes.ts"\ngraph g {\n  output o: json\n  node n = f() into o\n  start -> n\n}\n',
      "b.ngraph": GRAPH,
    },
    args: ["run", "a.ngraph", "--store", "sqlite:s.db", "--thread", "t", "--quiet"],
  })),
  ...["mkfifo ngraph.json", "mkdir ngraph.json", "ln -s ngraph.json ngraph.json", "ln -s /dev/zero ngraph.json"].map(
    (setup) => ({
      name: `run below: ${setup}`,
      setup,
      files: OK,
      args: ["run", "a.ngraph", "--store", "memory"],
    }),
  ),
  {
    name: "--allow before --builtins runs",
    files: { "b.ts": 'console.log("TOP LEVEL RAN");\nexport const llm = () => 1;\n', ...OK },
    args: ["run", "a.ngraph", "--store", "memory", "--allow", "none", "--builtins", "b.ts"],
  },
  {
    name: "--allow before the code of a plan runs",
    files: {
      "nodes.ts": 'console.log("TOP LEVEL RAN");\nexport const f = () => 1;\n',
      "a.ngraph": 'import { f } from "./nodes.ts"\nplan p {\n  task t = f()\n}\n',
    },
    args: ["run", "a.ngraph", "--allow", "none"],
  },
  ...entries(STORES, (name, setup) => [
    { name: `threads of ${name}`, setup, args: ["threads", "--store", "sqlite:s.db"] },
    { name: `run into ${name}`, setup, files: OK, args: ["run", "a.ngraph", "--quiet", "--store", "sqlite:s.db"] },
  ]),
  ...URLS.map((url) => ({ name: `threads of ${JSON.stringify(url)}`, args: ["threads", "--store", url] })),
  ...COMMANDS.flatMap((command) => [
    {
      name: `ngc ${command.join(" ")}: an argument with an escape sequence`,
      args: [...command, "\u001b[31m\u202e\u0007x"],
    },
    {
      name: `ngc ${command.join(" ")}: an unknown option with an escape sequence`,
      args: [...command, "x", "--\u001b[31mx"],
    },
  ]),
  ...entries(INPUTS, (name, input) => [
    {
      name: `--input: ${name}`,
      files: { ...OK, "in.json": input },
      args: ["run", "a.ngraph", "--store", "memory", "--input", "@in.json"],
    },
    {
      name: `standard input: ${name}`,
      files: { ...OK, "in.json": input },
      args: ["run", "a.ngraph", "--store", "memory", "--input", "-"],
      redirect: "< in.json",
    },
  ]),
  ...[
    "fmt --stdin-filepath a.ngraph",
    "check --stdin-filepath a.ngraph",
    "run a.ngraph --store memory --input -",
  ].flatMap((command) => [
    { name: `${command}: endless input`, files: OK, args: command.split(" "), redirect: "< /dev/zero" },
    { name: `${command}: a directory as input`, files: OK, args: command.split(" "), redirect: "< ." },
    {
      name: `${command}: binary input`,
      files: { ...OK, in: new Uint8Array([0xff, 0xfe, 0x00, 0xc0]) },
      args: command.split(" "),
      redirect: "< in",
    },
  ]),
  ...[
    "check a.ngraph --json",
    "run a.ngraph --store memory --quiet",
    "graph a.ngraph",
    "convert a.ngraph",
    "--help",
    "--version",
    "plan a.ngraph",
  ].flatMap((command) => [
    { name: `${command}: a full stdout`, files: OK, args: command.split(" "), redirect: "> /dev/full" },
    { name: `${command}: a full stderr`, files: OK, args: command.split(" "), redirect: "2> /dev/full" },
    { name: `${command}: closed streams`, files: OK, args: command.split(" "), redirect: ">&- 2>&-" },
    {
      name: `${command}: a deleted directory`,
      files: OK,
      setup: "mkdir gone; cd gone; rmdir ../gone",
      args: command.split(" "),
    },
  ]),
  ...entries(EXPRESSIONS, (name, expression) => [
    {
      name: `an expression with ${name}`,
      files: { "a.ngraph": `graph g {\n  output o: json\n  node n = ${expression} into o\n  start -> n\n}\n` },
      args: ["run", "a.ngraph", "--store", "memory", "--quiet"],
    },
  ]),
  {
    name: "a pipe in a directory",
    setup: "mkdir d; mkfifo d/x.ngraph; cp a.ngraph d",
    files: OK,
    args: ["check", "d"],
  },
  { name: "an endless file", args: ["check", "/dev/zero"] },
  {
    name: "a source that is not UTF-8",
    files: { "a.ngraph": new Uint8Array([0x67, 0xff, 0xfe]) },
    args: ["check", "a.ngraph"],
  },
  ...MORE_HOSTILE_INPUTS,
  ...COMMAND_HOSTILE_INPUTS,
  ...THREAD_HOSTILE_INPUTS,
];

function entries(
  table: Readonly<Record<string, string>>,
  each: (name: string, text: string) => readonly HostileInput[],
): readonly HostileInput[] {
  return Object.entries(table).flatMap(([name, text]) => each(name, text));
}
