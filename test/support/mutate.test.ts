import { describe, expect, test } from "vitest";
import { after, before, mutate, mutation, swap } from "./mutate.ts";

const SOURCE = `const limit = 3;
export function isFull(items: readonly string[]): boolean {
  // Mutation point: full
  if (items.length >= limit) return true;
  return false;
}
`;

const mutated = (...args: [change: Parameters<typeof mutation>[2], part?: string]): string =>
  mutate(SOURCE, mutation("list.ts", "full", ...args))
    .split("\n")[3]!
    .trim();

describe("a mutation", () => {
  test("replaces the marked statement", () =>
    expect(mutated("return items.length > limit;")).toBe("return items.length > limit;"));
  test("replaces a part of it", () => expect(mutated("limit === 0", "test")).toBe("if (limit === 0) return true;"));
  test("swaps a piece", () => expect(mutated(swap(">=", ">"))).toBe("if (items.length > limit) return true;"));
  test("adds code in front", () =>
    expect(mutated(before("void limit;"))).toBe("void limit; if (items.length >= limit) return true;"));
  test("adds code behind", () =>
    expect(mutated(after("void limit;"))).toBe("if (items.length >= limit) return true; void limit;"));
  test("finds the statement in another layout", () => {
    const text = SOURCE.replace(
      "if (items.length >= limit) return true;",
      "if (\n    items.length >= limit\n  )\n    return true;",
    );
    expect(mutate(text, mutation("list.ts", "full", "limit === 0", "test"))).toContain("if (\n    limit === 0\n  )");
  });
  test.each([
    ["an unknown point", mutation("list.ts", "empty", ""), "list.ts must have the mutation point empty exactly once"],
    [
      "an unknown name",
      mutation("list.ts", "full", "return items.length > maximum;"),
      "the file does not know maximum",
    ],
    ["an unknown part", mutation("list.ts", "full", "true", "alternate.test"), "nothing to change"],
    ["a piece that is not there", mutation("list.ts", "full", swap("<=", "<")), "does not occur once"],
  ])("is refused for %s", (_, refused, message) => expect(() => mutate(SOURCE, refused)).toThrow(message));
});
