import { describe, expect, test } from "vitest";
import { checkText } from "./support/check-text.ts";

const HEAD = `import { clean } from "functions"`;

/** The message of NG412 for the body of a graph; `undefined` if it is not reported. */
function untrusted(body: string, more = ""): string | undefined {
  const { diagnostics, errors } = checkText(`${HEAD}\n${more}\ngraph g {\n${body}\n}`, { raw: true });
  expect(errors).toEqual([]);
  const found = diagnostics.find(({ code }) => code === "NG412");
  return found === undefined ? undefined : `${found.message}; ${found.label}`;
}

const quoted = (source: string): string => `${source}  node run = shell(\`echo \${x} "\${x}"\`)`;
const raw = (source: string): string => `${source}  node run = shell(\`echo \${raw(x)}\`)`;

const SOURCES: readonly (readonly [name: string, source: string, edges: string, what: string])[] = [
  ["an input", "input x: string", "start -> run", "an input"],
  [
    "a memory channel that an input was written to",
    'input y: string  memory x: string = ""  node keep = y into x',
    "start -> run -> keep",
    "an input",
  ],
  [
    "the body of a response",
    'state x: string  node get = http("https://a.b") into { body: x }',
    "start -> get -> run",
    "the response of a server",
  ],
  [
    "the content of a file",
    'state x: string  node get = shell("cat a") into { stdout: x }',
    "start -> get -> run",
    "the output of a command",
  ],
  ["the answer of a model", 'state x: string  node get = llm("a") into x', "start -> get -> run", "written by `get`"],
  [
    "the answer of a person",
    'state x: string  node get = ask("a") into x',
    "start -> get -> run",
    "the answer of a person",
  ],
  ["a signal", 'state x: string  node get = receive("a") into x', "start -> get -> run", "a signal"],
  [
    "a value in a text",
    "input t: string  state x: string  node get = json(t) into x",
    "start -> get -> run",
    "an input",
  ],
  [
    "the result of a tool",
    'state x: string  node get = tool("a", "b") into x',
    "start -> get -> run",
    "the result of a tool",
  ],
];

describe.each(SOURCES)("%s", (_, source, edges, what) => {
  test("is reported where a shell runs it, and not where it is quoted", () => {
    expect(untrusted(`${raw(source)}\n${edges}`)).toContain(what);
    expect(untrusted(`${quoted(source)}\n${edges}`)).toBeUndefined();
    expect(untrusted(`${source}  node run = shell(["echo", x])\n${edges}`)).toBeUndefined();
    expect(untrusted(`${source}  node run = shell("cat", input: x, env: { X: x })\n${edges}`)).toBeUndefined();
    expect(untrusted(`${source}  node run = shell([x, "a"])\n${edges}`)).toContain(what);
  });

  test("is reported through copies, templates, lists and items", () => {
    const copy = `state z: string  node copy = \`a \${x}\` into z`;
    const path = edges.replace("-> run", "-> copy -> run");
    const text = (command: string, more = ""): string =>
      `${source}  ${copy}  node run = shell(${command})${more}\n${path}`;
    expect(untrusted(text("raw(z)"))).toContain(what);
    expect(untrusted(text("`${raw(upper(z))}`"))).toContain(what);
    expect(untrusted(text('z == "" ? "ls" : raw(z)'))).toContain(what);
    expect(untrusted(text("raw(item)", ' for item in split(z, " ")'))).toContain(what);
    expect(untrusted(text("raw(quote(z))"))).toBeUndefined();
    expect(untrusted(text("`head -n ${raw(`${len(z)}`)}`"))).toBeUndefined();
  });

  test("is not reported after a check by a function, or after an approval", () => {
    const run = "node run = shell(raw(x))";
    const [first = ""] = edges.split(" -> run");
    if (!source.startsWith("input y")) {
      if (!source.startsWith("input"))
        expect(
          untrusted(`${source}  node checks = clean(x) into x  ${run}\n${first} -> checks -> run`),
        ).toBeUndefined();
      expect(
        untrusted(
          `${source}  state ok: bool  node sees = ask(x) into ok  ${run}\n${first} -> sees -> run when ok\nsees -> end otherwise`,
        ),
      ).toBeUndefined();
    }
    expect(untrusted(`${source}  ${run} { pause before }\n${edges}`)).toBeUndefined();
  });
});

test.each([
  ['input x: "main" | "dev"', "start -> run"],
  ["input n: int  state x: string  node copy = `${n}` into x", "start -> copy -> run"],
  ['state x: "a" | "b"  node get = llm("a") into x', "start -> get -> run"],
  ['state x: string  node set = "ls" into x', "start -> set -> run"],
])("values that hold no foreign text are not reported: %s", (source, edges) => {
  expect(untrusted(`${raw(source)}\n${edges}`)).toBeUndefined();
});

test("a node that fails has written nothing, and a question that fails may be unseen", () => {
  const run = (checking: string): string | undefined =>
    untrusted(`state x: string = ""  state ok: bool = false  node get = llm("a") into x
      node check = ${checking}  node run = shell(raw(x))
      start -> get -> check -> end
      check -> run on error`);
  expect(run("clean(x) into x")).toContain("written by `get`");
  expect(run("ask(x) into ok { within 1h }")).toContain("written by `get`");
  expect(run("clean(x) into x { pause before }")).toBeUndefined();
  const made = `graph draft { output c: string = ""  node write = llm("a") into c  node check = clean(c) into c
    start -> write -> check -> end  check -> end on error }`;
  expect(
    untrusted(
      "state z: string  node make = draft() into { c: z }  node run = shell(raw(z))\nstart -> make -> run",
      made,
    ),
  ).toContain("written by `make`");
});

test("a condition that chooses items passes no text on", () => {
  const run = (list: string): string | undefined =>
    untrusted(
      `input n: string  state xs: string[] = ["a"]  node run = shell(\`ls \${raw(join(${list}, " "))}\`)\nstart -> run`,
    );
  expect(run("[x for x in xs if x == n]")).toBeUndefined();
  expect(run("[n for x in xs]")).toContain("an input");
});

describe("behind `finally`", () => {
  const body = (command: string, more = ""): string =>
    `state x: string = ""  ${more}  node get = llm("a") into x  node run = shell(${command})\n` +
    "start -> get  finally -> run";

  test("channels can hold what any node has left in them", () => {
    expect(untrusted(body("raw(x)"))).toContain(
      "model output reaches a shell command without approval: `run` uses `x`",
    );
    expect(untrusted(body("`a ${x}`"))).toBeUndefined();
    // A run can fail or be cancelled before the check.
    expect(untrusted(`${body("raw(x)", "node check = clean(x) into x")}  get -> check`)).toContain("written by `get`");
    expect(untrusted(`${body("raw(x)", "node see = ask(x)")}  get -> see`)).toContain("written by `get`");
  });

  test("text passes between its nodes, and from an argument of a call", () => {
    expect(
      untrusted(
        `state x: string = ""  node first = "a" into x  node get = ask("a") into x  node run = shell(raw(x))
        start -> first  finally -> get -> run`,
      ),
    ).toContain("the answer of a person");
    const sweep = `graph sweep { input p: string  node first = print("a")  node run = http(p)
      start -> first -> end  finally -> run }`;
    expect(
      untrusted('state x: string  node get = llm("a") into x  node go = sweep(p: x)\nstart -> get -> go', sweep),
    ).toContain("model output reaches the host of a request in `sweep`");
  });
});

test("the message of an error is untrusted", () => {
  const body = 'node a = http("https://a.b")  node run = shell(raw(error!.message))'.replace(
    "error!.message",
    'error?.message ?? ""',
  );
  expect(untrusted(`${body}\nstart -> a -> end\na -> run on error`)).toContain("the message of an error");
});

test("the result of a called graph is followed", () => {
  const called =
    'graph inner {\n output a: string = ""  output b: string = ""\n node get = http("https://a.b") into { body: a }  node set = "ls" into b\n start -> get -> set -> end\n}';
  const body = (field: string): string =>
    `state x: string  node get = inner() into { ${field}: x }  node run = shell(raw(x))\nstart -> get -> run`;
  expect(untrusted(body("a"), called)).toContain("the response of a server in `inner`");
  expect(untrusted(body("b"), called)).toBeUndefined();
});

test("a signal is no approval", () => {
  const body = 'input x: string  state go: bool  node wait = receive("go") into go  node run = shell(raw(x))';
  expect(untrusted(`${body}\nstart -> wait -> run when go\nwait -> end otherwise`)).toContain("an input");
});

describe("text that an interpreter in the command runs", () => {
  const found = (command: string): string | undefined =>
    untrusted(`input x: string  node run = shell(${command})\nstart -> run`);

  test.each([
    ['`sh -c "echo ${x}"`', "sh"],
    ["`sh -c 'echo ${x}'`", "sh"],
    ["`sh -c ${x}`", "sh"],
    ['`cd a && /bin/bash -euc "echo ${x}"`', "bash"],
    ["`ssh host ${x}`", "ssh"],
    ['`ssh -p 22 host "cd ${x} && ls"`', "ssh"],
    ["`eval ${x}`", "eval"],
    ["`node -e 'console.log(\"${x}\")'`", "node"],
    ['["sh", "-c", x]', "sh"],
    ['["sh", "-c", `echo ${x}`]', "sh"],
    ['["ssh", "host", x]', "ssh"],
  ])("%s", (command, program) => {
    expect(found(command)).toContain(`untrusted text reaches \`${program}\``);
  });

  test.each([
    "`sh -c 'echo \"$1\"' sh ${x}`",
    "`ssh host ${`cd ${quote(x)} && ls`}`",
    '["sh", "-c", "echo \\"$1\\"", "sh", x]',
    '["ssh", "host", `ls ${quote(x)}`]',
    "`ssh host ls; echo ${x}`",
    '`echo "sh -c" && ls "${x}"`',
    "`git commit -c ${x}`",
    "`grep -e ${x} file.sh`",
  ])("a near miss: %s", (command) => {
    expect(found(command)).toBeUndefined();
  });
});

describe("the host of a request", () => {
  const found = (call: string, source = 'state x: string  node get = ask("a") into x'): string | undefined =>
    untrusted(`${source}  config base: string = "https://a.b"  node run = http(${call})\nstart -> get -> run`);

  test.each([
    "x",
    "`https://${x}/a`",
    "`https://${x}.example.com/a`",
    "`https://example.com${x}`",
    "`https://example.com:${x}/`",
    '"https://" + x + "/a"',
    "`${base}${x}`",
    "`//${x}/a`",
    '`https://a.b/`, hosts: [x, "a.b"]',
    "x, private: true",
    'base == "" ? x : "https://a.b"',
  ])("is untrusted: %s", (call) => {
    expect(found(call)).toContain("untrusted text reaches the host of a request: `run` uses `x`");
    expect(found(call)).toContain("the answer of a person");
  });

  test.each([
    "`https://example.com/${x}`",
    "`https://example.com?q=${x}`",
    "`${base}/items/${x}`",
    '"https://example.com/" + x',
    'x, hosts: ["example.com"]',
    "x, private: false",
    '"https://a.b", method: "POST", body: { x }',
    "clean(x)",
  ])("is not: %s", (call) => {
    expect(found(call)).toBeUndefined();
  });

  test.each([
    ["a signal", 'state x: string  node get = receive("a") into x'],
    ["the response of a server", 'state x: string  node get = http("https://a.b") into { body: x }'],
    ["the result of a tool", 'state x: string  node get = tool("a", "b") into x'],
    [
      "the response of a server",
      'state t: string  state x: string  node ask_for = http("https://a.b") into { body: t }  node get = json(t) into x',
    ],
  ])("of %s", (what, source) => {
    const first = source.includes("ask_for") ? "ask_for -> " : "";
    expect(untrusted(`${source}  node run = http(x)\nstart -> ${first}get -> run`)).toContain(what);
  });

  test.each([
    ["the input of a run", 'input x: string  node get = print("a")'],
    ["the output of a command", 'state x: string  node get = shell("a") into { stdout: x }'],
    ["one of its values", 'state x: "https://a.b" | "https://c.d"  node get = ask("a") into x'],
  ])("is chosen by %s", (_, source) => {
    expect(found("x", source)).toBeUndefined();
  });

  test("output of a model", () => {
    const message = found("x", 'state x: string  node get = llm("a") into x');
    expect(message).toContain("model output reaches the host of a request without approval: `run` uses `x`");
  });
});

describe("the path of a file", () => {
  const found = (call: string): string | undefined => {
    const [name, type] = call.includes("r.") ? ["r", "{ n: int, s: string }"] : ["x", "string"];
    const source = `state ${name}: ${type}  node get = ask("a") into ${name}`;
    return untrusted(`${source}  node run = file(${call})\nstart -> get -> run`);
  };

  test.each(["read: x", "glob: `${x}/*`", "write: `a/${x}`, text: `b`", "read: r.s", "read: `${r.n}/${r.s}`"])(
    "is untrusted: %s",
    (call) => {
      const [name] = call.includes("r.") ? ["r"] : ["x"];
      expect(found(call)).toContain(`untrusted text reaches the path of a file: \`run\` uses \`${name}\``);
    },
  );

  test.each(["write: `a`, text: x", "read: clean(x)", "read: `${r.n}.txt`", 'write: "a", text: r.s'])(
    "is not: %s",
    (call) => expect(found(call)).toBeUndefined(),
  );

  test("files that were found are no untrusted paths", () => {
    const body = 'state p: string[]  state t: string[]  node get = file(glob: "*") into p';
    expect(untrusted(`${body}  node run = file(read: q) for q in p into t\nstart -> get -> run`)).toBeUndefined();
  });
});

describe("text that is passed to a graph", () => {
  const SINKS = `
    graph fetch { input url: string  input note: string = ""  node get = http(url, headers: { note })  start -> get -> end }
    graph deep { input at: string  node go = fetch(url: at)  start -> go -> end }
    graph save { input path: string  node put = file(write: path, text: "a")  start -> put -> end }
    graph safe { input url: string  node see = ask(url)  node get = http(url)  start -> see -> get -> end }
    graph same { input a: string  input b: string  output c: string = ""  output d: string = ""
      node first = a into c  node second = upper(b) into d  start -> first -> second -> end }`;
  const found = (call: string, source: string): string | undefined =>
    untrusted(`${source}  node run = ${call}\nstart -> get -> run`, SINKS);
  const MODEL = 'state x: string  node get = llm("a") into x';
  const PERSON = 'state x: string  node get = ask("a") into x';

  test("reaches a request in it, and in one that it calls", () => {
    expect(found("fetch(url: x)", MODEL)).toContain("model output reaches the host of a request in `fetch` without");
    expect(found("deep(at: x)", MODEL)).toContain("model output reaches the host of a request in `fetch` without");
    expect(found("fetch(url: x)", PERSON)).toContain("untrusted text reaches the host of a request in `fetch`");
    expect(found("save(path: `a/${x}`)", PERSON)).toContain("untrusted text reaches the path of a file in `save`");
    expect(found('fetch(url: "https://a.b", note: x)', MODEL)).toContain("model output reaches a request in `fetch`");
    expect(found('fetch(url: "https://a.b", note: x)', PERSON)).toBeUndefined();
    expect(found('fetch(url: "https://a.b")', MODEL)).toBeUndefined();
    expect(found("safe(url: x)", MODEL)).toBeUndefined();
    expect(found("fetch(url: x) { pause before }", MODEL)).toBeUndefined();
  });

  test("comes back in the output that holds it", () => {
    const back = (field: string, given = "a: x, b: `y`", source = MODEL): string | undefined =>
      untrusted(
        `${source}  state z: string  node pass = same(${given}) into { ${field}: z }  node run = shell(raw(z))\n` +
          "start -> get -> pass -> run",
        SINKS,
      );
    expect(back("c")).toContain("model output reaches a shell command without approval: `run` uses `z`");
    expect(back("d")).toBeUndefined();
    expect(back("d", 'a: "y", b: x', PERSON)).toContain("the answer of a person");
  });

  test("comes back as it is at the end of the graph", () => {
    const back = (body: string): string | undefined =>
      untrusted(
        "state z: string  node make = draft() into { c: z }  node run = shell(raw(z))\nstart -> make -> run",
        `graph draft { output c: string = ""  node write = llm("a") into c\n${body} }`,
      );
    expect(back("start -> write -> end")).toContain("written by `make`");
    expect(back("node check = clean(c) into c  start -> write -> check -> end")).toBeUndefined();
    expect(
      back(
        "state ok: bool = false  node see = ask(c) into ok  start -> write -> see  see -> end when ok  see -> write otherwise  limit steps 20",
      ),
    ).toBeUndefined();
    const either = (other: string): string | undefined =>
      back(`node check = clean(c) into c  start -> write  check -> end
        write -> check when len(c) > 3
        write -> ${other} otherwise`);
    expect(either("check")).toBeUndefined();
    expect(either("end")).toContain("written by `make`");
    // What follows `finally` changes a copy of the last values, and is a part of the result.
    expect(back("node check = clean(c) into c  start -> write -> end  finally -> check")).toContain(
      "written by `make`",
    );
    expect(
      back('node see = ask("a")  node check = clean(c) into c  start -> write -> check -> end  finally -> see'),
    ).toBeUndefined();
    expect(
      back(
        'node check = clean(c) into c  node again = llm("b") into c  start -> write -> check -> end  finally -> again',
      ),
    ).toContain("written by `make`");
  });

  test("is chosen by a model that has the graph among its tools", () => {
    const agent = (args: string): string | undefined =>
      untrusted(`output x: string  node run = llm("a", ${args}) into x\nstart -> run -> end`, SINKS);
    expect(agent("tools: [save]")).toBe(
      "model output reaches the path of a file in `save` without approval: the model of `run` chooses `path`; uses `path`",
    );
    expect(agent("tools: [deep]")).toContain("model output reaches the host of a request in `fetch`");
    expect(agent("tools: [save], approve: [save]")).toBeUndefined();
    expect(agent("tools: [safe]")).toBeUndefined();
    expect(agent("tools: [same]")).toBeUndefined();
  });
});
