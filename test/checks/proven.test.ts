import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exampleFiles } from "../support/example-files.ts";
import { checkText } from "./support/check-text.ts";

const here = import.meta.dirname;
const fixtures = readdirSync(join(here, "fixtures")).map((file) => join(here, "fixtures", file));
const graphs = [...fixtures, ...exampleFiles(".ngraph")].filter(
  (file) => file.endsWith(".ngraph") && !/NG900-fires/.test(file),
);

test(`nothing is left unproven (NG900) in ${graphs.length} examples and fixtures`, () => {
  expect(graphs.length).toBeGreaterThan(50);
  const unproven = graphs.filter((file) =>
    checkText(readFileSync(file, "utf8"), { raw: true }).diagnostics.some(
      ({ code, severity }) => code === "NG900" && severity !== "info",
    ),
  );
  expect(unproven).toEqual([]);
});
