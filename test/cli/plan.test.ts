/** `ngc plan` (9.11), and what other commands do with plans that are not run. */
import { describe, expect, test } from "vitest";
import { createProject } from "./project.ts";

const SHIP = `
plan ship_auth {
  max parallel 3

  task schema_init  = shell("npm run db:init")                           { estimate 1m }
  task auth_table   = shell("gen auth")     after schema_init            { touches "migrations/0012_auth.sql" estimate 2m }
  task user_table   = shell("gen user")     after schema_init            { estimate 3m }
  task auth_service = shell("agent auth")   after auth_table, user_table { touches "src/api.ts" estimate 20m }
  task user_service = shell("agent user")   after auth_table, user_table { touches "src/api.ts" estimate 10m }
  task api_gateway  = shell("gateway")      after auth_service, user_service { alone estimate 90s }
}
`;
const FILE_ORDER = SHIP.replace("max parallel 3", "max parallel 3\n  order file").replaceAll(/estimate \w+/g, "");

/** File order results in a long schedule, because the long chain comes last. */
const POOR = `plan poor {
  max parallel 2
${Array.from({ length: 9 }, (_, at) => `  task s${at} = print(${at}) { estimate ${3 + (at % 4)}s touches "f${at % 3}" }`).join("\n")}
  task x = print("x") { estimate 7s }
  task y = print("y") after x { estimate 7s }
}`;

describe("ngc plan", () => {
  test("K-01: the example batch for batch, as text and as a document", () => {
    const project = createProject({ "ship.ngraph": FILE_ORDER });
    const { status, document } = project.json(["plan", "ship.ngraph"]);
    expect(status).toBe(0);
    expect(document).toMatchObject({
      version: 1,
      plan: "ship_auth",
      maxParallel: 3,
      order: "file",
      unit: "tasks",
      batches: [["schema_init"], ["auth_table", "user_table"], ["auth_service"], ["user_service"], ["api_gateway"]],
      criticalPath: ["schema_init", "auth_table", "auth_service", "user_service", "api_gateway"],
      makespan: 5,
      lowerBound: 5,
      gap: 0,
    });
    const text = project.ngc(["plan", "ship.ngraph"]).stdout;
    expect(text).toContain("plan ship_auth: 6 tasks, at most 3 at a time, in the order of the file");
    expect(text).toContain("1  auth_table, user_table\n");
    expect(text).toContain("length         5, and no order is shorter");
    expect(text).toContain("durations      unknown");
  });

  test("K-03: one at a time", () => {
    const project = createProject({ "ship.ngraph": FILE_ORDER });
    const { document } = project.json(["plan", "ship.ngraph", "--max-parallel", "1"]);
    expect(document.batches.map((batch: string[]) => batch.length)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(document.makespan).toBe(6);
  });

  test("estimates order ready tasks, and times are printed", () => {
    const project = createProject({ "ship.ngraph": SHIP });
    const { document } = project.json(["plan", "ship.ngraph"]);
    expect(document.batches[1]).toEqual(["user_table", "auth_table"]);
    expect(document.tasks.at(-1)).toEqual({
      id: "api_gateway",
      start: 2_040_000,
      end: 2_130_000,
      basis: "estimate",
      slot: 0,
      critical: true,
      after: ["auth_service", "user_service"],
    });
    expect(project.ngc(["plan", "ship.ngraph"]).stdout).toContain("      34m  api_gateway\n  35m 30s  end");
  });

  test("durations of earlier runs come before estimates", () => {
    const project = createProject({
      "two.ngraph": `plan two { max parallel 1  task a = print("a") { estimate 1h }  task b = print("b") { estimate 2h } }`,
    });
    expect(project.json(["plan", "two.ngraph"]).document.batches).toEqual([["b"], ["a"]]);
    expect(project.ngc(["run", "two.ngraph", "--quiet"]).status).toBe(0);
    const { document } = project.json(["plan", "two.ngraph"]);
    expect(document.tasks.map(({ basis }: { basis: string }) => basis)).toEqual(["recorded", "recorded"]);
    expect(document.makespan).toBeLessThan(3_600_000);
  });

  test("Mermaid and SVG, printed or written", () => {
    const project = createProject({ "ship.ngraph": SHIP });
    const mermaid = project.ngc(["plan", "ship.ngraph", "--format", "mermaid"]).stdout;
    expect(mermaid).toMatch(/^gantt\n {2}title ship_auth\n {2}dateFormat x\n/);
    expect(mermaid).toContain("  schema_init :crit, t0, 0, 60000\n");
    const { status, stdout, stderr } = project.ngc(["plan", "ship.ngraph", "--format", "svg", "-o", "ship.svg"]);
    expect([status, stdout, stderr]).toEqual([0, "", "wrote ship.svg\n"]);
    const svg = project.read("ship.svg");
    expect(svg.match(/<rect class="bar/g)).toHaveLength(6);
    expect(svg).toContain("lower bound 35m 30s");
  });

  test("an invalid plan is refused before anything else: exit 2", () => {
    const project = createProject({
      "bad.ngraph": `plan p { task a = print("a") after b  task b = print("b") after a }`,
    });
    const { status, stdout, stderr } = project.ngc(["plan", "bad.ngraph"]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("NG701: graph has no roots — cycle or malformed deps");
    expect(project.json(["plan", "bad.ngraph"]).document).toMatchObject({ ok: false, errors: 1 });
  });

  test.each([
    [["plan", "two.ngraph", "--graph", "ship"], "has no plan `ship`"],
    [["plan", "graph.ngraph"], "graph.ngraph contains no plan"],
    [["plan", "--optimize", "two.ngraph"], "write the file before it"],
    [["plan", "two.ngraph", "--max-parallel", "0"], "--max-parallel takes a whole number from 1"],
    [["plan", "two.ngraph", "--format", "dot"], "--format takes text, json, mermaid, svg"],
    [["plan", "file.ngraph", "--optimize"], "there is no order to search for"],
  ])("wrong usage: ngc %s", (args, message) => {
    const project = createProject({
      "two.ngraph": `plan two { task a = print("a") }`,
      "file.ngraph": `plan two { order file  task a = print("a") }`,
      "graph.ngraph": `graph g { node a = print("a")  start -> a -> end }`,
    });
    const { status, stderr } = project.ngc(args);
    expect(status).toBe(64);
    expect(stderr).toContain(message);
  });
});

describe("an optimised order", () => {
  test("is never longer, is stored in the plan's table, and used by plan, run and compile", () => {
    const project = createProject({ "poor.ngraph": POOR });
    const before = project.json(["plan", "poor.ngraph"]).document;
    const optimised = project.ngc(["plan", "poor.ngraph", "--optimize=200ms", "-o", "poor.table.json"]);
    expect([optimised.status, optimised.stderr]).toEqual([0, "wrote poor.table.json\n"]);
    const table = JSON.parse(project.read("poor.table.json"));
    expect([...table.ranks].sort((a: number, b: number) => a - b)).toEqual(
      table.tasks.map((_: unknown, at: number) => at),
    );

    const after = project.json(["plan", "poor.ngraph"]).document;
    expect([after.order, after.digest]).toEqual(["optimized", before.digest]);
    expect(after.makespan).toBeLessThanOrEqual(before.makespan);
    const dry = project.json(["run", "poor.ngraph", "--dry-run"]).document;
    expect(dry.batches).toEqual(after.batches);

    expect(project.ngc(["compile", "poor.ngraph", "--target", "json"]).status).toBe(0);
    expect(JSON.parse(project.read("poor.table.json")).ranks).toEqual(table.ranks);

    project.write("poor.ngraph", POOR.replace("estimate 7s", "estimate 8s"));
    expect(project.json(["plan", "poor.ngraph"]).document.order).toBe("priority");
    expect(project.ngc(["plan", "poor.ngraph"]).stderr).toContain("an order of an older version of the plan");
  });

  test("is printed without being stored, with the command that stores it", () => {
    const project = createProject({ "poor.ngraph": POOR });
    const { status, stdout, stderr } = project.ngc(["plan", "poor.ngraph", "--optimize=50ms"]);
    expect(status).toBe(0);
    expect(stdout).toContain("in an optimized order");
    expect(stderr).toBe("to keep this order: -o poor.table.json\n");
    expect(project.has("poor.table.json")).toBe(false);
  });

  test("another file of that name is ignored", () => {
    const project = createProject({ "poor.ngraph": POOR, "poor.table.json": "{ broken" });
    expect(project.json(["plan", "poor.ngraph"]).document.order).toBe("priority");
    project.write(
      "poor.table.json",
      JSON.stringify({ digest: project.json(["plan", "poor.ngraph"]).document.digest, ranks: [0, 0] }),
    );
    expect(project.json(["plan", "poor.ngraph"]).document.order).toBe("priority");
  });
});

test("ngc compile writes a module for a file with plans only", () => {
  const project = createProject({ "ship.ngraph": SHIP });
  expect(project.ngc(["compile", "ship.ngraph"])).toMatchObject({ status: 0, stderr: "wrote ship.ngraph.ts\n" });
  expect(project.read("ship.ngraph.ts")).toContain("export function ship_auth(options: $.PlanOptions = {})");
  expect(project.ngc(["compile", "ship.ngraph", "--check"]).status).toBe(0);
});

test("a large plan: prints only both ends of a long critical path", () => {
  const tasks = Array.from(
    { length: 400 },
    (_, at) => `  task t${at} = print(${at})${at === 0 ? "" : ` after t${at - 1}`}`,
  );
  const project = createProject({ "long.ngraph": `plan long {\n${tasks.join("\n")}\n}` });
  expect(project.ngc(["plan", "long.ngraph"]).stdout).toContain("→ (370 more)");
});

test("ngc check counts tasks and dependencies", () => {
  const project = createProject({ "ship.ngraph": SHIP });
  const { status, document } = project.json(["check", "ship.ngraph"]);
  expect(status).toBe(0);
  expect(document.graphs).toEqual([
    expect.objectContaining({ name: "ship_auth", kind: "plan", nodes: 6, edges: 8, effects: ["shell"], proofs: [] }),
  ]);
  expect(project.ngc(["check", "ship.ngraph"]).stderr).toContain("1 plan checked, nothing to report");
});

test("ngc graph draws tasks and dependencies", () => {
  const project = createProject({ "ship.ngraph": SHIP });
  expect(project.ngc(["graph", "ship.ngraph"]).stdout).toContain(
    "start\n↳ schema_init  shell()  ⚡ shell\n├─ auth_table  shell()  ⚡ shell\n",
  );
  const { document } = project.json(["graph", "ship.ngraph"]);
  expect(document.edges).toHaveLength(9);
});
