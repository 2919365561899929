/** Checks that a change interrupts: what is found afterwards is about the texts as they are. */
import { expect, test } from "vitest";
import { emptyHost } from "../../compiler/load/host.ts";
import { Workspace } from "../../editor/workspace.ts";

const inner = (value: string): string =>
  `graph inner {\n  output r: ${value === "1" ? "int" : "string"}\n  node n = ${value} into r\n  start -> n -> end\n}\n`;
const OUTER =
  'import { inner } from "./inner.ngraph"\ngraph outer {\n  output s: string\n  node a = inner() into { r: s }\n  start -> a -> end\n}\n';

function open(): Workspace {
  const workspace = new Workspace(
    () => emptyHost,
    (uri) => uri,
  );
  workspace.open("/p/inner.ngraph", "", 1, inner("1"));
  workspace.open("/p/outer.ngraph", "", 1, OUTER);
  return workspace;
}

const errorsIn = (workspace: Workspace): readonly string[] | undefined =>
  workspace
    .check("/p/outer.ngraph")
    ?.result.diagnostics.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));

/** The steps of a check, its last one included. */
function stepsOfCheck(): number {
  const workspace = open();
  let steps = 1;
  while (!workspace.advance("/p/outer.ngraph")) steps++;
  return steps;
}

test("a check has steps, and finds the same as one at once", () => {
  expect(stepsOfCheck()).toBeGreaterThan(4);
  const workspace = open();
  workspace.advance("/p/outer.ngraph");
  expect(errorsIn(workspace)).toEqual(["channel `s` does not accept this value"]);
});

test("a change of an imported text ends a check, after each of its steps", () => {
  for (let steps = 0; steps < stepsOfCheck(); steps++) {
    const workspace = open();
    for (let step = 0; step < steps; step++) workspace.advance("/p/outer.ngraph");
    workspace.change("/p/inner.ngraph", 2, [{ text: inner('"x"') }]);
    expect(errorsIn(workspace), `after ${steps} steps`).toEqual([]);
  }
});

test("a document that is closed has nothing to check", () => {
  const workspace = open();
  workspace.advance("/p/outer.ngraph");
  workspace.close("/p/outer.ngraph");
  expect(workspace.advance("/p/outer.ngraph")).toBe(true);
  expect(errorsIn(workspace)).toBeUndefined();
});
