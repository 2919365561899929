/** Checks of the arguments of `undo`, and of barriers that lead to `rollback`. */
import { expect, test } from "vitest";
import { checkText } from "./support/check-text.ts";

const found = (text: string, code: string): string | undefined =>
  checkText(text, { raw: true }).diagnostics.find((each) => each.code === code)?.message;

const graph = (node: string): string => `import { book } from "functions"
  secret TOKEN
  graph g { output ref: string = ""  ${node}  node last = ref into ref  start -> run -> last -> end  run -> rollback on error }`;

test("NG411: a secret reaches a log by an undo", () => {
  expect(found(graph('node run = print("x") { undo print(TOKEN) }'), "NG411")).toBe("the secret `TOKEN` reaches a log");
  const header = "headers: { authorization: TOKEN }";
  const http = `node run = print("x") { undo http("https://a.b", ${header}) { timeout 1s } }`;
  expect(found(graph(http), "NG411")).toBeUndefined();
});

test("NG413: a key is written in an undo", () => {
  const key = `sk-${"a".repeat(30)}`;
  expect(found(graph(`node run = print("x") { undo print("${key}") }`), "NG413")).toContain("an API key");
});

test("NG412: the result of a node reaches the command of its undo", () => {
  const node = (command: string, more = ""): string =>
    graph(`node run = http("https://a.b") into { body: ref } { timeout 1s ${more} undo shell(${command}) }`);
  const message = found(node("raw(ref)"), "NG412");
  expect(message).toBe("untrusted text reaches the shell unquoted: `run` uses `ref`");
  // A rollback may begin before a person has seen the result.
  expect(found(node("raw(ref)", "pause after"), "NG412")).toBe(message);
  expect(found(node("`rm ${ref}`"), "NG412")).toBeUndefined();
});

test("NG302 names a barrier into `rollback` by its target", () => {
  const text = `graph g { input n: int  node one = print("x")  node two = print("y")
    start -> one  one -> two when n > 3  one -> end otherwise  two -> end  all(one, two) -> rollback }`;
  const error = checkText(text, { raw: true }).diagnostics.find(({ code }) => code === "NG302");
  expect(error?.message).toContain("the barrier into `rollback` can be left incomplete");
  expect(JSON.stringify(error)).toContain("stuck: rollback has 1 of 2 (waits for two)");
});
