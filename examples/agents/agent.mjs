// A scripted agent: writes a module of the library, as a program with a model would do. `node agent.mjs NAME`
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [name] = process.argv.slice(2);
const failure = process.env.NGRAPH_FAILURE ?? "";

const DRAFTS = {
  slug: () => `export const slug = (text) => text.toLowerCase().match(/[a-z0-9]+/g)?.join("-") ?? "";\n`,
  title: () => `export const title = (text) => text.replace(/\\b[a-z]/g, (letter) => letter.toUpperCase());\n`,
  count: () => `export const count = (text) => text.split(/\\s+/).filter((word) => word !== "").length;\n`,
  shout: () => "export const shout = (text) => `${text.toUpperCase()}!`;\n",
  initials: () => `export const initials = (text) => text.split(" ").map(([letter]) => letter).join("");\n`,
  // The first draft ignores the width, the second one loses the last line. Each failed check says what is wrong.
  wrap: () => {
    if (failure === "") return "export const wrap = (text) => [text];\n";
    const last = failure.includes("is lost") ? "[...lines, line]" : "lines";
    return `export function wrap(text, width) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : \`\${line} \${word}\`;
  }
  return ${last};
}
`;
  },
};

console.log(`${name}: try ${process.env.NGRAPH_ATTEMPT}${failure === "" ? "" : `, because ${failure.trim()}`}`);
mkdirSync("lib", { recursive: true });
writeFileSync(`lib/${name}.mjs`, DRAFTS[name]());

const obeys = existsSync("RULES.md") && readFileSync("RULES.md", "utf8").includes("your own file");
if (name === "initials" && !obeys) writeFileSync("check.mjs", "// All is well.\n");
