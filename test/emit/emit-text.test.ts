import { describe, expect, test } from "vitest";
import { compile, emitDeclarations, emitJavaScript, emitTypeScript, memoryHost } from "../../compiler/index.ts";
import { createProject } from "./project.ts";
import { SUPPORT, SUPPORT_NODES } from "./support-graph.ts";

const compileSupport = (text: string, path = "support.ngraph") =>
  compile(text, { path, host: memoryHost({ "nodes.ts": SUPPORT_NODES, "graphs/nodes.ts": SUPPORT_NODES }) });

describe("the text of a module", () => {
  test("does not change with the layout or with comments, so that `--check` finds stale files only", () => {
    const moved = `// A comment.\n${SUPPORT.replaceAll("\n  node", "\n\n      node")}`;
    expect(moved).not.toBe(SUPPORT);
    expect(emitTypeScript(compileSupport(moved))).toBe(emitTypeScript(compileSupport(SUPPORT)));
    const changed = SUPPORT.replace("rounds < 3", "rounds < 4");
    expect(emitTypeScript(compileSupport(changed))).not.toBe(emitTypeScript(compileSupport(SUPPORT)));
  });

  test("imports the modules of the graph by paths relative to the generated module", () => {
    const result = compileSupport(SUPPORT, "graphs/support.ngraph");
    const names = "classifyTicket, searchDocs, searchTickets, draftReply";
    expect(emitTypeScript(result)).toContain(`import { ${names} } from "./nodes.ts";`);
    expect(emitTypeScript(result, { outPath: "out/x/support.ts" })).toContain(`from "../../graphs/nodes.ts";`);
    expect(emitTypeScript(result, { extensions: "js" })).toContain(`from "./nodes.js";`);
    expect(emitJavaScript(result)).toContain(`import { ${names} } from "./nodes.js";`);
    expect(emitDeclarations(result)).not.toContain("nodes.");
    expect(emitTypeScript(result, { runtime: "../ngraph.ts" })).toContain(`import * as $ from "../ngraph.ts";`);
  });

  test("packages are imported as they are written", () => {
    const { diagnostics, ...result } = compile(
      `import { chunk } from "lodash-es"\nimport { readFile } from "node:fs"\ngraph g { input a: int[]  output b: json  node x = chunk(readFile(a)) into b  start -> x }`,
    );
    expect(diagnostics.filter((item) => item.severity === "error")).toEqual([]);
    const text = emitJavaScript({ ...result });
    expect(text).toContain(`import { chunk } from "lodash-es";`);
    expect(text).toContain(`import { readFile } from "node:fs";`);
  });

  test("carries the documentation of graphs, channels and types", () => {
    const result = compile(`
      /// A type.
      type Note = { text: string }
      /// A graph.
      /// In two lines.
      graph g {
        /// A channel.
        input note: Note
        node a = print(note.text)
        start -> a
      }`);
    const text = emitTypeScript(result);
    expect(text).toContain("/** A type. */\nexport type Note =");
    expect(text).toContain("/**\n * A graph.\n * In two lines.\n */\nexport function g(");
    expect(text).toContain("  /** A channel. */\n  readonly note: Note;");
  });

  test("a file with errors becomes no module", () => {
    expect(() => emitTypeScript(compile(`graph g { node a = b  start -> a }`))).toThrow(/has errors/);
  });
});

test("a very large table stands as text, and loads", async () => {
  const count = 5000;
  const nodes = Array.from({ length: count }, (_, i) => `node step_${i} = total + ${i} into total`).join("\n");
  const chain = Array.from({ length: count }, (_, i) => `step_${i}`).join(" -> ");
  const project = createProject({
    "large.ngraph": `graph large {\n limit steps none\n output total: int = 0\n${nodes}\nstart -> ${chain}\n}`,
  });
  const { large } = await project.load("large.ngraph.ts");
  expect(project.compiled["large.ngraph"]?.table?.nodes).toHaveLength(count);
  const engine = (large as () => { table: unknown })();
  expect(JSON.stringify(engine.table)).toContain(`step_${count - 1}`);
}, 300_000);
