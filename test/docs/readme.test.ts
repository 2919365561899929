import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the README counts the examples that port published workflows, which are the last ones of its table", () => {
  const readme = readFileSync("README.md", "utf8");
  const rows = [...readme.matchAll(/^\| \[[\w-]+\]\((examples\/[\w-]+)\//gm)].map(([, folder = ""]) => folder);
  const isPort = (folder: string): boolean =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".ngraph"))
      .some((name) => /Ported\s+(?:\/\/\/ )?from/.test(readFileSync(`${folder}/${name}`, "utf8")));
  const ports = rows.filter(isPort);
  expect(rows.slice(-ports.length)).toEqual(ports);
  const words = ["five", "six", "seven", "eight", "nine"];
  expect(readme).toContain(`The last ${words[ports.length - 5]} port published workflows`);
});
