import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testsWithoutDepth } from "./depth-readers.ts";

test("a test reads the depth itself or through a helper; all others are left out beyond the quick depth", () => {
  const others = testsWithoutDepth(fileURLToPath(new URL("../..", import.meta.url)));
  expect(others).toContain("test/architecture.test.ts");
  expect(others).not.toContain("test/fault/simulation.test.ts");
  expect(others).not.toContain("test/proofs/oracle-free.test.ts");
});
