/** Every mutation point of the runtime has a mutation, and every mutation finds its point. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, test } from "vitest";
import { mutate, mutationPoints, wordsUnder } from "../support/mutate.ts";
import { EDIT_BUGS } from "./edit-bugs.ts";
import { KILL_BUGS } from "./kill-bugs.ts";
import { LIST_BUGS } from "./list-bugs.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { ROLLBACK_BUGS } from "./rollback-bugs.ts";
import { WAITING_BUGS } from "./waiting-bugs.ts";

const runtime = join(import.meta.dirname, "../../runtime");
const words = wordsUnder(runtime);
const edits = [...PLANTED_BUGS, ...KILL_BUGS, ...WAITING_BUGS, ...EDIT_BUGS, ...LIST_BUGS, ...ROLLBACK_BUGS].flatMap(
  (bug) => bug.edits,
);

test("every mutation finds its point and changes the text", () => {
  for (const edit of edits) {
    const text = readFileSync(join(runtime, edit.file), "utf8");
    expect(mutate(text, edit, words), `${edit.file}: ${edit.point}`).not.toBe(text);
  }
});

test("every mutation point is used", () => {
  const used = new Set(edits.map(({ file, point }) => `${file}: ${point}`));
  // The suites in test/stores/ have points of their own.
  const files = readdirSync(runtime, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => file.endsWith(".ts") && !file.startsWith("stores/"));
  const points = files.flatMap((file) =>
    mutationPoints(readFileSync(join(runtime, file), "utf8")).map((point) => `${file}: ${point}`),
  );
  expect(points.filter((point) => !used.has(point))).toEqual([]);
});
