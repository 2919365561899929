import { describe, expect, it } from "vitest";
import { explain, findingsOf, graph, marked } from "./bind-text.ts";

const INNER = `graph inner { output a: string  config model: string = "small"  node say = model into a  start -> say }\n`;

describe("config", () => {
  it.each([
    [
      "a node writes it",
      graph(`config model: string = "m"`, `node a = "x" into model`, "start -> a"),
      "NG104",
      "model",
      "`model` is configuration: nothing may write it",
    ],
    [
      "it has a reducer",
      graph(`config model: string[] reduce append`, `node a = print(len(model))`, "start -> a"),
      "NG117",
      "append",
      "remove `reduce`",
    ],
    [
      "it is not read",
      graph(`config model: string = "m"`, `node a = print("x")`, "start -> a"),
      "NG406",
      "model",
      "the config `model` is never read",
    ],
    [
      "its default has another type",
      graph(`config model: string = 3`, `node a = print(model)`, "start -> a"),
      "NG408",
      "3",
      "model",
    ],
    [
      "a call passes it",
      INNER + graph(`output a: string`, `node call = inner(model: "x") into { a }`, "start -> call"),
      "NG114",
      "model",
      "a run supplies its configuration to all graphs",
    ],
    [
      "a called graph has another type",
      INNER +
        graph(
          `output a: string`,
          `config model: int = 3`,
          `node call = inner() into { a }`,
          `node n = print(model)`,
          "start -> call -> n",
        ),
      "NG416",
      "int",
      "a `int` here and a `string` in `inner`",
    ],
    [
      "two called graphs differ",
      `${INNER}graph other { config model: int = 1  node n = print(model)  start -> n }\n` +
        graph(`output a: string`, `node call = inner() into { a }`, `node n = other()`, "start -> call -> n"),
      "NG416",
      "main",
      "calls both `inner` and `other`",
    ],
    [
      "another channel has its name",
      INNER +
        graph(
          `output a: string`,
          `state model: string = "m"`,
          `node call = inner() into { a }`,
          `node n = print(model)`,
          "start -> call -> n",
        ),
      "NG416",
      "model",
      "which is a state here and configuration of `inner`",
    ],
  ])("is an error or a warning where %s", (_, text, code, at, says) => {
    const found = findingsOf(text).filter(({ severity }) => severity !== "info");
    expect(
      found.map((each) => each.code),
      explain(found),
    ).toEqual([code]);
    const [finding] = found;
    expect(marked(finding!)).toBe(at);
    expect(`${finding!.message} ${finding!.label} ${finding!.help ?? ""}`).toContain(says);
  });

  it("may be declared for its default alone", () => {
    const text =
      INNER +
      graph(`output a: string`, `config model: string = "large"`, `node call = inner() into { a }`, "start -> call");
    expect(explain(findingsOf(text))).toBe("");
  });
});
