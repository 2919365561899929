import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const GRAPH = `import { say } from "./nodes.ts"
graph demo {
  output log: json[] reduce append
  node a = say({ log }) into { log? } { timeout 3s }
  start -> a
}
graph other {
  node z = sleep(1s)
  start -> z -> end
}
`;
const FILES = {
  "demo.ngraph": GRAPH,
  "nodes.ts": "export const say = async (state: object): Promise<{ log?: string[] }> => ({ log: ['x'] });\n",
  "plan.ngraph": 'plan p {\n  task t = shell("true")\n}\n',
  "refused.ngraph": "graph g {\n  node a = sleep(1s)\n  node b = sleep(1s)\n  start -> a\n  a -> b on error\n}\n",
  "wrong.ngraph": "graph g {\n  start -> nowhere\n}\n",
};

test("prints or writes a topology, and says each loss with its place and a way out", () => {
  const project = createProject(FILES);
  const printed = project.ngc(["export", "demo.ngraph", "demo", "--to", "neograph"]);
  expect(printed.status).toBe(0);
  expect(JSON.parse(printed.stdout)).toMatchObject({ name: "demo", nodes: { a: { type: "say" } } });
  expect(printed.stderr).toContain("demo.ngraph:4:41: the policy `timeout 3s` of `a` has no form in a topology");
  expect(printed.stderr).toContain("help: let the function of the node do it");
  expect(project.ngc(["export", "demo.ngraph", "demo", "--to", "neograph", "-o", "out/t.json"])).toMatchObject({
    status: 0,
    stdout: "",
  });
  expect(project.read("out/t.json")).toBe(printed.stdout);
  expect(project.ngc(["import", "out/t.json"]).stdout).toContain("graph demo {");
  expect(project.json(["export", "demo.ngraph", "demo", "--to", "neograph"]).document).toMatchObject({
    version: 1,
    ok: true,
    text: printed.stdout,
    losses: [
      { file: "demo.ngraph", range: { start: { line: 4, column: 41 } }, help: "let the function of the node do it" },
    ],
  });
});

test("prints the picture that `ngc graph` draws, of graphs and plans", () => {
  const project = createProject(FILES);
  for (const [file, ...graph] of [["demo.ngraph", "other"], ["plan.ngraph"]] as const) {
    const exported = project.ngc(["export", file, ...graph, "--to", "mermaid"]);
    const drawn = project.ngc(["graph", file, ...graph.flatMap((name) => ["--graph", name]), "--format", "mermaid"]);
    expect(exported).toMatchObject({ status: 0, stdout: drawn.stdout });
  }
});

test("refuses what the target cannot say, and writes nothing", () => {
  const project = createProject(FILES);
  const refused = project.ngc(["export", "refused.ngraph", "--to", "neograph", "-o", "x.json"]);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain("refused.ngraph:5:3: `on error` has no form in a topology");
  expect(refused.stderr).toContain("help: catch the error");
  expect(project.has("x.json")).toBe(false);
  expect(project.ngc(["export", "wrong.ngraph", "--to", "neograph"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("nowhere"),
  });
  for (const [args, message] of [
    [["export", "demo.ngraph", "--to", "neograph"], "choose one with the argument behind the file"],
    [["export", "demo.ngraph", "dem", "--to", "neograph"], "`demo`"],
    [["export", "plan.ngraph", "p", "--to", "neograph"], "is a plan"],
    [["export", "plan.ngraph", "--to", "neograph"], "contains no graph"],
    [["export", "demo.ngraph"], "--to"],
    [["export", "demo.ngraph", "--to", "word"], "mermaid"],
    [["export", "none.ngraph", "--to", "mermaid"], "none.ngraph"],
    [["export", "demo.ngraph", "demo", "--to", "neograph", "-o", "demo.ngraph"], "demo.ngraph"],
  ] as const)
    expect(project.ngc([...args])).toMatchObject({ status: 64, stderr: expect.stringContaining(message) });
});
