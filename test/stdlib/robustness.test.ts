import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { numRuns } from "../support/depth.ts";
import { commandOf, templateOf } from "./command-of.ts";

const SHELLS = ["/bin/sh", "/bin/bash"].filter((shell) => {
  try {
    execFileSync(shell, ["-c", "true"]);
    return true;
  } catch {
    return false;
  }
});

const directory = mkdtempSync(join(tmpdir(), "ngraph-quoting-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Texts of commands with many quotes and constructs. None of them can create a file. */
const fragment = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  {
    weight: 10,
    arbitrary: fc.constantFrom("'", '"', "$(", ")", "$", "\\", "`", "#", "\n", " ", ";", "(", "{", "}", "<", "'", '"'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "echo ",
      "a",
      "$a",
      "${a}",
      "${a:-",
      "$((",
      "$'",
      "$$",
      "$$('",
      "((",
      "<<",
      "<<E\n",
      "E\n",
      "case a in a) ",
    ),
  },
);

/** Values that create a file where the shell reads any part of them as code. */
const payload = fc
  .array(
    fc.constantFrom(
      "'",
      '"',
      "\\",
      "$(>pwned)",
      "(>pwned)",
      "(",
      "`>pwned`",
      "\n>pwned\n",
      ";>pwned;",
      ")",
      "}",
      "#",
      "E\n",
      "$",
      "{",
      " ",
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

test("no value of an accepted command runs as code", { timeout: 600_000 }, () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(fragment, { minLength: 1, maxLength: 12 }), payload, (parts, value) => {
      const { text } = commandOf(templateOf(parts), value);
      if (typeof text !== "string" || !parts.includes(null)) return;
      accepted++;
      for (const shell of SHELLS) {
        spawnSync(shell, ["-c", text], { cwd: directory, timeout: 5000, env: { PATH: "/nowhere" } });
        expect(readdirSync(directory), `${shell} -c ${JSON.stringify(text)}`).toEqual([]);
      }
    }),
    { seed: 7, numRuns: numRuns(4000) },
  );
  expect(accepted).toBeGreaterThan(numRuns(4000) / 10);
});
