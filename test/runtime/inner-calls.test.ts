import { expect, test } from "vitest";
import { InnerCalls } from "../../runtime/checkpoint/inner-calls.ts";

test("the calls of a called graph are those below its namespace, also behind a later one with the same name", () => {
  const calls = new InnerCalls({ "a[1]": "1", "a[1]/b": "2", "a[1]/b/c": "3", "a[10]/b": "4", "a[1]b/c": "5" });
  calls.add("a[1]/d/e", "6");
  calls.add("a[1]/b", "7");
  expect(calls.of("a[1]")).toEqual({ "a[1]/b": "7", "a[1]/b/c": "3", "a[1]/d/e": "6" });
  expect(calls.of("a[1]/b")).toEqual({ "a[1]/b/c": "3" });
  expect(calls.of("a[1]/d")).toEqual({ "a[1]/d/e": "6" });
  expect(calls.of("a[10]")).toEqual({ "a[10]/b": "4" });
  expect(calls.of("a")).toBeUndefined();
  expect(calls.of("a[1]/b/c")).toBeUndefined();
});
