/** Inputs that try to hang, crash or deceive `import`, `mcp`, `lsp`, `serve`, `logs` and `test`, and links out of a checked-out tree. */
import type { HostileInput } from "./hostile-input.ts";

const GRAPH = "graph g {\n  output o: int\n  node n = 1 into o\n  start -> n\n}\n";
const OK = { "a.ngraph": GRAPH };
const LINE = "\u001b[31m\u202e\u2066\u009b\u007f";

/** Files of other systems, for `ngc import`. */
const IMPORTED: Readonly<Record<string, readonly [file: string, text: string]>> = {
  "no content": ["x.json", ""],
  null: ["x.json", "null"],
  "an endless list": ["x.json", "[".repeat(100_000)],
  "many scripts": [
    "package.json",
    JSON.stringify({ scripts: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`s${i}`, `echo ${i}`])) }),
  ],
  "a script with control characters": ["package.json", JSON.stringify({ scripts: { [LINE]: `echo ${LINE}` } })],
  "a script that ends the statement": [
    "package.json",
    JSON.stringify({ scripts: { "a\n} graph x {": '") }\nimport { f } from "./top.mjs"\n', "b`${1}": "`${raw(1)}`" } }),
  ],
  "scripts of inherited names": [
    "package.json",
    '{"scripts": {"__proto__": "echo 1", "constructor": "npm run toString", "toString": "npm run constructor"}}',
  ],
  "scripts that are no texts": ["package.json", '{"scripts": {"a": 1, "b": null, "c": ["x"], "d": {"e": 1}}}'],
  "scripts that call each other": ["package.json", '{"scripts": {"a": "npm run b", "b": "npm run a"}}'],
  "scripts that are a list": ["package.json", '{"scripts": ["a", "b"]}'],
  "a long script": ["package.json", JSON.stringify({ scripts: { a: "x && ".repeat(200_000) } })],
  "many calls of scripts": [
    "package.json",
    JSON.stringify({ scripts: { a: "npm run b && ".repeat(20_000) + "true", b: "true" } }),
  ],
  "turbo without tasks": ["turbo.json", '{"tasks": null}'],
  "turbo of inherited names": ["turbo.json", '{"tasks": {"__proto__": {"dependsOn": ["^__proto__", "constructor"]}}}'],
  "turbo with a cycle": ["turbo.json", '{"tasks": {"a": {"dependsOn": ["b"]}, "b": {"dependsOn": ["a"]}}}'],
  "turbo with wrong values": [
    "turbo.json",
    '{"tasks": {"a": {"dependsOn": "b", "outputs": 1, "inputs": {}, "env": [1]}}}',
  ],
  "a deep neograph": ["x.json", `{"nodes": ${'[{"type":"parallel","branches":'.repeat(5000)}[]${"}]".repeat(5000)}}`],
  "a neograph of inherited names": [
    "x.json",
    '{"nodes": {"__proto__": {"type": "llm"}, "constructor": {}}, "edges": [{"from": "__proto__", "to": "toString"}]}',
  ],
  "a neograph of wrong kinds": ["x.json", '{"nodes": 1, "edges": "x", "state": []}'],
  "a langgraph-gen of wrong kinds": ["x.yml", "nodes: 1\nedges: [1, null, {from: [], to: {}}]\nentrypoint: {}\n"],
  "a langgraph-gen of many edges": [
    "x.yml",
    `name: A\nnodes:\n${"  - name: n\n".repeat(5000)}edges:\n${"  - {from: n, to: n}\n".repeat(20_000)}`,
  ],
  "a yaml bomb": [
    "x.yml",
    `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefghi"
      .split("")
      .map(
        (each, i) => `${each}: &${each} [${Array.from({ length: 9 }, () => `*${"abcdefgh"[i] ?? ""}`).join(", ")}]\n`,
      )
      .join("")}nodes: *i\nedges: []\n`,
  ],
  "a module with code at the top level": [
    "x.ts",
    'console.log("TOP LEVEL RAN");\nnew StateGraph(S).addNode("a", f).addEdge(START, "a").compile();\n',
  ],
  "a module with names that end the statement": [
    "x.ts",
    'const g = new StateGraph(S).addNode("a\\n}", f).addNode("` + process.exit() + `", f).addEdge(START, "a\\n}").compile();\n',
  ],
  "a module that is deep": ["x.ts", `const g = new StateGraph(S)${'.addNode("a", f)'.repeat(20_000)}.compile();\n`],
  "a module with a deep expression": [
    "x.ts",
    `const g = new StateGraph(${"(".repeat(20_000)}1${")".repeat(20_000)});\n`,
  ],
  "a module of broken syntax": ["x.ts", "const g = new StateGraph(S).addNode(\u0000"],
  "a kahn plan of wrong kinds": ["x.json", '{"tasks": [null, 1, {"id": {}}, {"id": "a", "deps": "b"}], "version": {}}'],
  "text that is no UTF-8": ["x.json", "{}"],
};

const request = (id: unknown, method: string, params: unknown = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const INITIALIZE = request(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "x", version: "1" },
});

/** Standard input of `ngc mcp`. */
const MCP: Readonly<Record<string, string>> = {
  "no request": "",
  "no JSON": "{\n",
  "no request but JSON": "null\n[]\n1\n{}\n",
  "an unknown method": `${request(1, "__proto__")}\n`,
  "an unknown tool": `${INITIALIZE}\n${request(2, "tools/call", { name: "__proto__", arguments: {} })}\n`,
  "a tool without arguments": `${INITIALIZE}\n${request(2, "tools/call", { name: "g" })}\n`,
  "arguments of wrong kinds": `${INITIALIZE}\n${request(2, "tools/call", { name: "g", arguments: [LINE] })}\n`,
  "arguments of inherited names": `${INITIALIZE}\n${request(2, "tools/call", { name: "g", arguments: { ["constructor"]: 1 } })}\n`,
  "a name with control characters": `${INITIALIZE}\n${request(2, "tools/call", { name: LINE, arguments: {} })}\n`,
  "an id that is an object": `${request({ a: 1 }, "initialize")}\n`,
  "the same id twice": `${INITIALIZE}\n${INITIALIZE}\n`,
  "a deep request": `${INITIALIZE}\n${"[".repeat(200_000)}\n`,
  "a long line without an end": "x".repeat(8_000_000),
  "many requests": `${INITIALIZE}\n${`${request(2, "tools/list")}\n`.repeat(2000)}`,
};

const framed = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

/** Standard input of `ngc lsp`. */
const LSP: Readonly<Record<string, string>> = {
  "no message": "",
  "no header": "x\r\n\r\n",
  "a length that is no number": "Content-Length: x\r\n\r\n{}",
  "a negative length": "Content-Length: -1\r\n\r\n{}",
  "a huge length": "Content-Length: 99999999999999\r\n\r\n{}",
  "no JSON": framed("{"),
  "no request": framed("null"),
  "an unknown method": framed(request(1, "constructor")),
  "a document of an unknown scheme": [
    request(1, "initialize", { processId: null, rootUri: "http://x/", capabilities: {} }),
    JSON.stringify({
      jsonrpc: "2.0",
      method: "textDocument/didOpen",
      params: { textDocument: { uri: "ftp://x/%00.ngraph", languageId: "ngraph", version: 1, text: GRAPH } },
    }),
    request(2, "shutdown"),
    JSON.stringify({ jsonrpc: "2.0", method: "exit" }),
  ]
    .map(framed)
    .join(""),
};

/** Command lines in a directory with a sound graph, `a.ngraph`, and a store that has its thread `t`. */
const COMMANDS: readonly (readonly string[])[] = [
  ["serve"],
  ["serve", "none.ngraph"],
  ["serve", "a.ngraph", "--port", "-1"],
  ["serve", "a.ngraph", "--port", "65536"],
  ["serve", "a.ngraph", "--port", "0x50"],
  ["serve", "a.ngraph", "--port", "1e3"],
  ["serve", "a.ngraph", "--host", ""],
  ["serve", "a.ngraph", "--host", "0.0.0.0"],
  ["serve", "a.ngraph", "--host", "\u001b[31m"],
  ["serve", "a.ngraph", "--host", "::"],
  ["serve", "a.ngraph", "--tokens", "none.json"],
  ["serve", "a.ngraph", "--tokens", "a.ngraph"],
  ["serve", "a.ngraph", "--tokens", "/dev/zero"],
  ["serve", "a.ngraph", "--tokens", "."],
  ["serve", "a.ngraph", "--tokens", "empty.json"],
  ["serve", "a.ngraph", "--tokens", "proto.json"],
  ["serve", "a.ngraph", "--tokens", "numbers.json"],
  ["serve", "a.ngraph", "--origin", "*"],
  ["serve", "a.ngraph", "--origin", "javascript:alert(1)"],
  ["serve", "a.ngraph", "--origin", ""],
  ["serve", "a.ngraph", "--webhook", "https://hooks.example.com"],
  ["serve", "a.ngraph", "--webhook", ""],
  ["serve", "a.ngraph", "--webhook-private=yes"],
  ["serve", "a.ngraph", "--rate", "0"],
  ["serve", "a.ngraph", "--rate", "-1"],
  ["serve", "a.ngraph", "--max-runs", "0"],
  ["serve", "a.ngraph", "--drain", "-1"],
  ["serve", "a.ngraph", "--drain", "1e99"],
  ["serve", "a.ngraph", "--allow", "everything"],
  ["serve", "a.ngraph", "--builtins", "none.ts"],
  ["serve", "a.ngraph", "a.ngraph"],
  ["serve", "a.ngraph", "--store", "sqlite:/dev/null"],
  ["mcp"],
  ["mcp", "none.ngraph"],
  ["mcp", "a.ngraph", "a.ngraph"],
  ["mcp", "a.ngraph", "--store", "postgres://u:Hunter2PW@127.0.0.1:1/x"],
  ["mcp", "a.ngraph", "--pause-before", "__proto__"],
  ["mcp", "a.ngraph", "--config", "__proto__=1"],
  ["mcp", "a.ngraph", "--json"],
  ["tools"],
  ["tools", "sync", "none"],
  ["tools", "sync", "--timeout", "0"],
  ["tools", "__proto__"],
  ["lsp", "x"],
  ["lsp", "--json"],
  ["import"],
  ["import", "none.json"],
  ["import", "."],
  ["import", "/dev/zero"],
  ["import", "/dev/null"],
  ["import", "a.ngraph"],
  ["import", "numbers.json", "--from", "__proto__"],
  ["import", "numbers.json", "--from", "turbo", "--from", "kahn"],
  ["import", "scripts.json", "--from", "package-json", "-o", "x\u001b.ngraph"],
  ["import", "scripts.json", "--from", "package-json", "-o", "/dev/full"],
  ["import", "scripts.json", "--from", "package-json", "-o", "a.ngraph/x.ngraph"],
  ["import", "scripts.json", "--from", "package-json", "-o", ".ngraph"],
  ["export"],
  ["export", "a.ngraph"],
  ["export", "a.ngraph", "--to", "__proto__"],
  ["export", "a.ngraph", "__proto__", "--to", "neograph"],
  ["export", "none.ngraph", "--to", "mermaid"],
  ["export", "/dev/zero", "--to", "neograph"],
  ["export", "a.ngraph", "--to", "neograph", "-o", "a.ngraph"],
  ["export", "a.ngraph", "--to", "neograph", "-o", "/dev/full"],
  ["logs", ""],
  ["logs", "../../../etc/passwd"],
  ["logs", "t", "../../x"],
  ["logs", "t", "--run", "../../x"],
  ["logs", "t", "--run", "\u001b[31m"],
  ["logs", "__proto__", "-f"],
  ["logs", "x".repeat(100_000)],
  ["test", "a.ngraph"],
  ["test", "none.ngraph"],
  ["test", "/dev/zero"],
  ["types", "/dev/zero"],
  ["types", "a.ngraph", "--check"],
  ["rollback", "t"],
  ["rollback", ""],
  ["rollback", "__proto__"],
  ["migrate", "t", "--map", "o=value.x.y"],
  ["migrate", "t", "--map", "o=[x for x in range(1000000) if x in range(1000000)]"],
  ["migrate", "t", "--map", `o=${"(".repeat(100_000)}`],
  ["migrate", "t", "--map", "o=`\u001b${value}"],
  ["migrate", "t", "--set", `o=${"[".repeat(100_000)}`],
  ["migrate", "t", "--keep", "constructor"],
  ["migrate", "t", "--all", "--file", "/dev/zero"],
  ["migrate", "x".repeat(100_000)],
  ["threads", "--label", "\u001b[31m"],
  ["threads", "--limit", "-1"],
  ["threads", "--limit", "99999999999999999999"],
];

/** Prepares a file outside of the working directory, which must not change, and enters the working directory. */
const OUTSIDE = "mkdir out p; echo keep > out/rc; mv a.ngraph p; cd p";

const LINKS: Readonly<Record<string, readonly [setup: string, args: readonly string[]]>> = {
  "a module that is a link": ["ln -s ../out/rc a.ngraph.ts", ["compile", "a.ngraph"]],
  "a script that is a link": ["ln -s ../out/rc a.ngraph.js", ["compile", "a.ngraph", "--target", "js"]],
  "a table that is a link": ["ln -s ../out/rc g.table.json", ["compile", "a.ngraph", "--target", "json"]],
  "a declaration that is a link": ["ln -s ../out/rc a.d.ngraph.ts", ["types", "a.ngraph"]],
  "a map that is a link": ["ln -s ../out/rc a.d.ngraph.ts.map", ["types", "a.ngraph"]],
  "a graph that is a link": [
    "printf 'graph g { node n = 1 start -> n }' > ../out/x; printf keep > ../out/rc; ln -s ../out/x l.ngraph; chmod a-w ../out/x",
    ["fmt", "."],
  ],
};

export const COMMAND_HOSTILE_INPUTS: readonly HostileInput[] = [
  ...Object.entries(IMPORTED).flatMap(([name, [file, text]]): HostileInput[] => [
    { name: `ngc import: ${name}`, files: { [file]: text }, args: ["import", file] },
    {
      name: `ngc import, checked: ${name}`,
      files: { [file]: text },
      setup: `"$0" "$1" import ${file} -o made.ngraph --quiet 2> /dev/null`,
      args: ["check", "made.ngraph", "--quiet"],
    },
  ]),
  ...Object.entries(MCP).map(([name, text]) => ({
    name: `ngc mcp: ${name}`,
    files: { ...OK, in: text },
    args: ["mcp", "a.ngraph", "--store", "memory", "--quiet"],
    redirect: "< in",
  })),
  ...Object.entries(LSP).map(([name, text]) => ({
    name: `ngc lsp: ${name}`,
    files: { in: text },
    args: ["lsp", "--stdio"],
    // Headers of the protocol end with CR.
    redirect: "< in > /dev/null",
  })),
  ...COMMANDS.map((args) => ({
    name: `ngc ${args.map((arg) => JSON.stringify(arg.slice(0, 60))).join(" ")}`,
    files: {
      ...OK,
      "empty.json": "{}",
      "proto.json": '{"__proto__": "x", "constructor": ""}',
      "numbers.json": '{"a": 1}',
      "scripts.json": '{"scripts": {"a": "echo 1"}}',
    },
    setup: '"$0" "$1" run a.ngraph --thread t --quiet > /dev/null',
    args,
  })),
  ...Object.entries(LINKS).map(([name, [setup, args]]) => ({
    name: `out of the working directory: ${name}`,
    files: OK,
    setup: `${OUTSIDE}; ${setup}; chmod a-w ../out/rc`,
    args,
  })),
];
