import * as ai from "ai";
import { expect, test } from "vitest";
import type { Sdk } from "../../stdlib/llm/sdk.ts";

test("the AI SDK has the exports that `llm` uses", () => {
  const used: readonly (keyof Sdk)[] = [
    "generateText",
    "streamText",
    "jsonSchema",
    "tool",
    "Output",
    "APICallError",
    "NoObjectGeneratedError",
    "LoadAPIKeyError",
  ];
  expect(used.filter((name) => !(name in ai))).toEqual([]);
});
