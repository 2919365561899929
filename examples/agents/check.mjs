// Checks modules of the library: `node check.mjs [NAME]`. `--export` writes the index of all modules.
import { readdirSync, writeFileSync } from "node:fs";

const CASES = {
  slug: [["Six agents, one tree!"], "six-agents-one-tree"],
  title: [["six agents"], "Six Agents"],
  count: [["one  two three"], 3],
  shout: [["merged"], "MERGED!"],
  initials: [["Ada Lovelace"], "AL"],
  wrap: [
    ["one two three", 8],
    ["one two", "three"],
  ],
};

const written = () =>
  readdirSync("lib", { encoding: "utf8" })
    .filter((file) => file !== "index.mjs")
    .map((file) => file.replace(/\.mjs$/, ""))
    .sort();

async function check(name, module) {
  const [args, expected] = CASES[name];
  const found = (await import(module))[name](...args);
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  const isLost = name === "wrap" && JSON.stringify(found) === JSON.stringify(expected.slice(0, -1));
  console.error(
    `${name}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}${isLost ? ": the last line is lost" : ""}`,
  );
  process.exitCode = 1;
}

const [argument] = process.argv.slice(2);
if (argument === "--export") {
  writeFileSync(
    "lib/index.mjs",
    written()
      .map((name) => `export * from "./${name}.mjs";\n`)
      .join(""),
  );
} else if (argument === undefined) {
  for (const name of written()) await check(name, "./lib/index.mjs");
  console.log(`checked: ${written().join(", ")}`);
} else await check(argument, `./lib/${argument}.mjs`);
