/** Inputs that attack threads that wait, edited graphs, output files, the environment and built-in objects. */
import type { HostileInput } from "./hostile-input.ts";

const GRAPH = "graph g {\n  output o: int\n  node n = 1 into o\n  start -> n\n}\n";
const USES_F = 'import { f } from "./nodes.ts"\ngraph g {\n  output o: json\n  node n = f() into o\n  start -> n\n}\n';
const times = (count: number, item: (index: number) => string, separator = ""): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);

/** A graph whose thread `t` waits for the signal `pick`. */
const WAITS = 'graph g {\n  output o: { weight: int }\n  node r = receive("pick") into o\n  start -> r -> end\n}\n';
const RUN = '"$0" "$1" run a.ngraph --thread t --quiet > out.txt 2>&1';

/** Command lines on the thread `t`, which waits for the signal `pick`. */
const SIGNALS: readonly (readonly string[])[] = [
  ["signal", "t", "pick", '{"weight": "x"}'],
  ["signal", "t", "pick", "{"],
  ["signal", "t", "pick"],
  ["signal", "t", "pick", "1e999"],
  ["signal", "t", "pick", '{"weight": 9007199254740993}'],
  ["signal", "t", "pick", '{"__proto__": {"weight": 1}}'],
  ["signal", "t", "pick", `${"[".repeat(60_000)}`],
  ["signal", "t", "pick", `{"weight": 1, "${"x".repeat(50_000)}": 1}`],
  ["signal", "t", "", "1"],
  ["signal", "t", "\u001b[31m\u202e", "1"],
  ["signal", "t", "x".repeat(100_000), "1"],
  ["signal", "t", "__proto__", "1"],
  ["signal", "none", "pick", "1"],
  ["signal", "", "pick", "1"],
  ["signal", "t", "pick", '{"weight": 1}', "--id", "x".repeat(100_000)],
  ["signal", "t", "pick", '{"weight": 1}', "--id", "\u0001"],
  ["resume", "t"],
  ["resume", "t", "--answer", "r=1"],
  ["resume", "t", "--due"],
  ["fork", "t", "--at", "__proto__"],
  ["fork", "t", "--as", "-x"],
  ["fork", "t", "--from", "\u001b[31m"],
  ["update", "t", '{"o": {"weight": 1}}', "--in", "__proto__"],
  ["update", "t", '{"o": {"weight": 1}}', "--set", "none"],
  ["update", "t", "@."],
  ["update", "t", "@/dev/zero"],
  ["update", "-", "{}", "--as", "start"],
  ["update", "new", "{}", "--as", "start"],
  ["migrate", "t", "--set", "o={"],
  ["migrate", "t", "--set", "none=1"],
  ["migrate", "t", "--set", "o=1"],
  ["migrate", "t", "--rename", "\u001b=r"],
  ["migrate", "--all", "--file", "a.ngraph", "--graph", "__proto__"],
  ["prune", "--expired", "--keep-last", "1"],
  ["prune", "t", "--keep-last", "1.5"],
  ["prune", "--all", "--keep-last", "1", "--limit", "0"],
  ["label", "t", "x".repeat(70_000)],
  ["label", "t", "a\nb"],
  ["fork", "t", "--as", "a\nerror: b"],
  ["history", "a\nerror: b"],
  ["logs", "a\nerror: b"],
  ["resume", "a\nerror: b"],
  ["show", "a\nerror: b"],
  ["signal", "t", "a\nerror: b"],
  ["run", "a.ngraph", "--thread", "a\nerror: b"],
  ["delete", "t", "none"],
  ["run", "a.ngraph", "--thread", "-x"],
  ["run", "a.ngraph", "--thread", "t"],
];

/** Command lines whose output file is a source, or cannot be read as what it is. */
const OUTPUTS: readonly (readonly string[])[] = [
  ["convert", "a.ngraph", "-o", "a.ngraph"],
  ["convert", "a.ngraph", "-o", "d/../a.ngraph"],
  ["convert", "a.ngraph", "-o", "link.ngraph"],
  ["convert", "a.ngraph", "-o", "b.ngraph"],
  ["convert", "a.ngraph", "-o", "/dev/full"],
  ["convert", "a.ngraph", "-o", "d"],
  ["graph", "a.ngraph", "-o", "a.ngraph"],
  ["graph", "a.ngraph", "--format", "svg", "-o", "link.ngraph"],
  ["graph", "a.ngraph", "-o", "/dev/full"],
  ["plan", "p.ngraph", "-o", "p.ngraph"],
  ["plan", "p.ngraph", "-o", "/dev/full"],
  ["compile", "a.ngraph", "--out", "a.ngraph"],
  ["fmt", "link.ngraph"],
  ["new", "--", "-x"],
];

const VARIABLES = [
  "COLUMNS=-5",
  "COLUMNS=99999999999",
  "TZ=Nowhere/X",
  "LANG=tr_TR.UTF-8",
  "NODE_ENV=production",
  "NODE_PATH=/none",
  "PATH=/none",
  "UV_THREADPOOL_SIZE=0",
  "NGRAPH_TABLE=x",
  "NODE_OPTIONS=--frozen-intrinsics",
  "NODE_OPTIONS=--disable-proto=throw",
  "NODE_OPTIONS=--disallow-code-generation-from-strings",
  "NODE_OPTIONS=--throw-deprecation",
];

/** Values that a node returns and statements that it runs, as the body of an async function. */
const BODIES: Readonly<Record<string, string>> = {
  "a frozen JSON": "Object.freeze(JSON); return 1",
  "a fixed JSON.parse":
    "Object.defineProperty(JSON, 'parse', { value: () => { throw new Error('x') }, writable: false }); return 1",
  "a frozen Promise": "Object.freeze(Promise.prototype); Object.freeze(Promise); return 1",
  "a getter of Array.prototype.map":
    "Object.defineProperty(Array.prototype, 'map', { get() { throw new Error('g') } }); return 1",
  "frozen globals":
    "for (const key of Object.getOwnPropertyNames(globalThis)) try { Object.freeze((globalThis as any)[key]) } catch {}; return 1",
  "a then of Object.prototype": "(Object.prototype as any).then = () => { throw new Error('then') }; return { a: 1 }",
  "a toJSON of Object.prototype": "(Object.prototype as any).toJSON = () => 'x'; return { a: 1 }",
  "an iterator of Object.prototype":
    "(Object.prototype as any)[Symbol.iterator] = function* () { yield 1 }; return { a: 1 }",
  "an item of Array.prototype": "(Array.prototype as any)[5] = 'x'; return [1]",
  "no Date": "(globalThis as any).Date = undefined; return 1",
  "a broken Date.now": "Date.now = () => NaN; return 1",
  "a broken Math.random": "Math.random = () => 2; return 1",
  "no Object": "(globalThis as any).Object = undefined; return 1",
  "no process": "(globalThis as any).process = undefined; return 1",
  "thousands of rejected promises": "for (let i = 0; i < 1e4; i++) void Promise.reject(new Error('x')); return 1",
  "closed output": "const fs = await import('node:fs'); fs.closeSync(1); fs.closeSync(2); return 1",
  "names of Object.prototype": "return { ['__proto__']: 1, constructor: 2, toString: 3 }",
  "a thrown record of getters": "throw { get name() { throw 1 }, get message() { throw 2 } }",
  "a long chain of causes":
    "let e: any = new Error('0'); for (let i = 0; i < 1e5; i++) e = new Error('x' + i, { cause: e }); throw e",
  "nested aggregate errors":
    "let e: any = new Error('0'); for (let i = 0; i < 1e4; i++) e = new AggregateError([e, e], 'a'); throw e",
  "a long stack": "const e = new Error('x'); e.stack = 'Error: x\\n' + '    at f (y.ts:1:1)\\n'.repeat(1e6); throw e",
  "a long name of an error": "const e = new Error('x'); e.name = '\\u001b[31m' + 'n'.repeat(1e6); throw e",
  "an error that imitates a pause":
    "throw Object.assign(new Error('x'), { name: 'Pause', code: 'NG_PAUSED', pauses: [] })",
  "an error that imitates an interruption": "throw Object.assign(new Error('x'), { code: 'NG_CANCELLED' })",
  "a thenable that settles twice": "return { then(resolve: any) { resolve(1); resolve(2); throw new Error('x') } }",
  "a thenable that never settles": "return { then() {} }",
  "a worker that fails":
    "const { Worker } = await import('node:worker_threads'); new Worker('throw new Error(1)', { eval: true }); await new Promise((r) => setTimeout(r, 2000)); return 1",
  "an event without a listener":
    "const { EventEmitter } = await import('node:events'); setTimeout(() => new EventEmitter().emit('error', new Error('event')), 1); await new Promise((r) => setTimeout(r, 1000)); return 1",
  "an open server": "const { createServer } = await import('node:http'); createServer().listen(0); return 1",
  "an open timer": "setInterval(() => {}, 1000); return 1",
  "no environment": "for (const key in process.env) delete process.env[key]; return 1",
  "a deleted working directory":
    "const fs = await import('node:fs'); fs.mkdirSync('gone'); process.chdir('gone'); fs.rmdirSync('../gone'); return 1",
  "a strange umask": "process.umask(0o777); return 1",
};

const NAMES = 10_000;

const SOURCES: Readonly<Record<string, string>> = {
  "60,000 graphs": times(60_000, (i) => `graph g${i} {\n  node n = 1\n  start -> n\n}\n`),
  "many diamonds": `graph g {\n${times(3000, (i) => ` node a${i} = 1\n node b${i} = 1\n node c${i} = 1\n node d${i} = 1\n a${i} -> b${i}, c${i}\n all(b${i}, c${i}) -> d${i}\n${i === 0 ? "" : ` d${i - 1} -> a${i}\n`}`)} start -> a0\n}\n`,
  "many loops": `graph g {\n state s: int = 0\n${times(5000, (i) => ` node n${i} = s + 1 into s\n n${i} -> n${i} when s < ${i % 100}\n n${i} -> ${i === 4999 ? "end" : `n${i + 1}`} otherwise\n`)} start -> n0\n}\n`,
  "many sources of one node": `graph g {\n node z = 1\n${times(20_000, (i) => ` node n${i} = 1\n n${i} -> z\n`)} start -> ${times(20_000, (i) => `n${i}`, ", ")}\n}\n`,
  "many conditions on one channel": `graph g {\n  input c: int\n  node h = 1\n${times(NAMES, (i) => `  node n${i} = 1\n`)}  start -> h\n${times(NAMES, (i) => `  h -> n${i} when c == ${i}\n`)}}\n`,
  "many overlapping conditions": `graph g {\n  input c: int\n  node h = 1\n${times(1000, (i) => `  node n${i} = 1\n`)}  start -> h\n${times(1000, (i) => `  h -> n${i} when c >= ${i}\n`)}}\n`,
  "many edges of one node": `graph g {\n  node h = 1\n${times(20_000, (i) => `  node n${i} = 1\n`)}  start -> h\n${times(20_000, (i) => `  h -> n${i}\n`)}}\n`,
  "a chain of 20,000 nodes": `graph g {\n${times(20_000, (i) => ` node n${i} = ${i}\n`)} start -> ${times(20_000, (i) => `n${i}`, " -> ")}\n}\n`,
  "50,000 channels": `graph g {\n${times(50_000, (i) => ` state c${i}: int = 0\n`)} node a = c1 into c2\n start -> a\n}\n`,
  "a long cycle": `graph g {\n${times(20_000, (i) => ` node n${i} = 1\n`)} start -> n0\n${times(20_000, (i) => ` n${i} -> n${(i + 1) % 20_000}\n`)}}\n`,
  "many barriers": `graph g {\n${times(10_000, (i) => ` node a${i} = 1\n node b${i} = 1\n`)} start -> a0, b0\n${times(9999, (i) => ` all(a${i}, b${i}) -> a${i + 1}, b${i + 1}\n`)}}\n`,
  "many former names": `graph g {\n  output o: int\n  node n = 1 into o { was ${times(50_000, (i) => `x${i}`, ", ")} }\n  start -> n\n}\n`,
  "former names that are names": `graph g was g {\n  output o: int was o\n  drop o\n  node n = 1 into o { was n, __proto__ }\n  start -> n\n}\n`,
  "graphs that exchange their names": `${GRAPH.replace("graph g", "graph g was h")}${GRAPH.replace("graph g", "graph h was g")}`,
  "a signal with control characters": WAITS.replace("pick", "\\u001b[31m\\u202e"),
  "a signal of a long name": WAITS.replace("pick", "x".repeat(50_000)),
  "many memory channels": `graph g {\n${times(20_000, (i) => `  memory m${i}: int = 0\n`)}  node n = m0 + 1 into m0\n  start -> n\n}\n`,
};

const ALLOWED: readonly string[] = [
  '{"allow": ["net:"]}',
  '{"allow": ["net:\\u202ehost"]}',
  '{"allow": ["net:127.0.0.1/8"]}',
  '{"allow": ["net:[::1"]}',
  '{"allow": null}',
  '{"Allow": []}',
  '{"allow": [[[]]]}',
  '{"allow": [], "allow": ["net"]}',
  '{"\\u0061llow": [], "allow": ["net"]}',
  '{"models": {"a": {}, "a": {}}}',
  '{"allow": ["net:a..b"]}',
  '{"allow": ["net:."]}',
  '{"allow": ["net:-a"]}',
  '{"allow": ["net:a:0"]}',
  `{"allow": ["net:${"x".repeat(64)}"]}`,
  "\ufeff{}",
  "",
];

const REVOKED = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke();";

/** Modules whose code runs outside of a node call, and graphs that use the function `f`. */
const OUTSIDE: Readonly<Record<string, readonly [module: string, graph: string]>> = {
  "a reducer that throws a revoked proxy": [
    `export function f(a: unknown, b: unknown): unknown {\n  ${REVOKED}\n  throw proxy;\n}\n`,
    'import { f } from "./nodes.ts"\ngraph g {\n  output o: json = 0 reduce f\n  node n = 1 into o\n  start -> n\n}\n',
  ],
  "a module that deletes the working directory": [
    'import fs from "node:fs";\nfs.mkdirSync("gone");\nprocess.chdir("gone");\nfs.rmdirSync("../gone");\nexport const f = () => 1;\n',
    USES_F,
  ],
  "a module with a worker that fails": [
    'import { Worker } from "node:worker_threads";\nnew Worker("throw new Error(1)", { eval: true });\nawait new Promise((r) => setTimeout(r, 2000));\nexport const f = () => 1;\n',
    USES_F,
  ],
  "a condition that throws a secret": [
    "export function f(): number {\n  throw new Error(`no access with ${process.env.K}`);\n}\n",
    'import { f } from "./nodes.ts"\nsecret K\ngraph g {\n  node n = 1\n  start -> n when f() == 1\n  start -> end otherwise\n}\n',
  ],
  "an assertion that throws a secret": [
    "export function f(): number {\n  throw new Error(`no access with ${process.env.K}`);\n}\n",
    'import { f } from "./nodes.ts"\nsecret K\ngraph g {\n  node n = 1\n  start -> n\n  assert f() == 1 at n\n}\n',
  ],
};

export const THREAD_HOSTILE_INPUTS: readonly HostileInput[] = [
  ...Object.entries(OUTSIDE).map(([name, [module, graph]]) => ({
    name,
    files: { "a.ngraph": graph, "nodes.ts": module },
    setup: "export K=Hunter2PW",
    args: ["run", "a.ngraph", "--thread", "t", "--quiet"],
  })),
  ...SIGNALS.map((args) => ({
    name: `a waiting thread: ngc ${args.map((arg) => JSON.stringify(arg.slice(0, 40))).join(" ")}`,
    files: { "a.ngraph": WAITS },
    setup: RUN,
    args,
  })),
  {
    name: "a waiting thread of an edited graph: resume",
    files: { "a.ngraph": WAITS, "b.ngraph": WAITS.replace("node r", "node q").replace("-> r ->", "-> q ->") },
    setup: `${RUN}; cp b.ngraph a.ngraph`,
    args: ["resume", "t"],
  },
  {
    name: "a waiting thread of an edited graph: migrate",
    files: { "a.ngraph": WAITS, "b.ngraph": WAITS.replace("node r", "node q").replace("-> r ->", "-> q ->") },
    setup: `${RUN}; cp b.ngraph a.ngraph`,
    args: ["migrate", "t"],
  },
  {
    name: "a waiting thread of a deleted graph: signal",
    files: { "a.ngraph": WAITS },
    setup: `${RUN}; rm a.ngraph`,
    args: ["signal", "t", "pick", '{"weight": 1}'],
  },
  {
    name: "a waiting thread of a deleted graph: resume",
    files: { "a.ngraph": WAITS },
    setup: `${RUN}; rm a.ngraph`,
    args: ["resume", "t"],
  },
  ...OUTPUTS.map((args) => ({
    name: `an output file: ngc ${args.join(" ")}`,
    files: { "a.ngraph": GRAPH, "p.ngraph": 'plan p {\n  task a = shell("true")\n}\n' },
    setup: "mkdir d; ln -s a.ngraph link.ngraph",
    args,
  })),
  ...VARIABLES.map((variable) => ({
    name: `run with ${variable}`,
    files: { "a.ngraph": USES_F, "nodes.ts": "export const f = () => 1;\n" },
    setup: `export ${variable}`,
    args: ["run", "a.ngraph", "--thread", "t", "--quiet"],
  })),
  ...Object.entries(BODIES).map(([name, body]) => ({
    name: `a node with ${name}`,
    files: { "nodes.ts": `export async function f(): Promise<unknown> {\n  ${body}\n}\n`, "a.ngraph": USES_F },
    args: ["run", "a.ngraph", "--thread", "t", "--quiet"],
  })),
  ...Object.entries(SOURCES).map(([name, text]) => ({
    name: `check: ${name}`,
    files: { "a.ngraph": text },
    args: ["check", "a.ngraph"],
  })),
  ...ALLOWED.map((text) => ({
    name: `ngraph.json: ${JSON.stringify(text)}`,
    files: {
      "ngraph.json": text,
      "nodes.ts": 'console.log("TOP LEVEL RAN");\nexport const f = () => 1;\n',
      "a.ngraph": 'import { f } from "./nodes.ts"\ngraph g {\n  node n = f()\n  start -> n\n}\n',
    },
    args: ["run", "a.ngraph", "--store", "memory", "--allow", "net"],
  })),
];
