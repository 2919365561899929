/**
 * Assembles the pages of the site: those of `docs/` as they are, with links as addresses of the site, a page for each example,
 * and the landing page with the graph and the picture of the README.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { withSiteLinks } from "./site-links.ts";

/** The pages by their path in the site. */
export function sitePages(root: string): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  const add = (source: string, target: string): void => {
    pages.set(target, withSiteLinks(read(root, source), source));
  };
  for (const name of readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })) {
    const path = name.replaceAll("\\", "/");
    if (path.endsWith(".md")) add(`docs/${path}`, path.replace(/(^|\/)README\.md$/, "$1index.md"));
  }
  add("ARCHITECTURE.md", "architecture.md");
  add("CHANGELOG.md", "changelog.md");
  pages.set("grammar-ebnf.md", `# Grammar in EBNF\n\n\`\`\`text\n${read(root, "docs/grammar.ebnf").trim()}\n\`\`\`\n`);
  for (const [path, text] of examplePages(root)) pages.set(path, text);
  pages.set("index.md", landingPage(root));
  return pages;
}

/** Writes the pages and the files that they show into an empty folder. */
export function assemblePages(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of sitePages(root)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })) {
    if (/\.(?:svg|png)$/.test(name)) cpSync(join(root, "docs", name), join(folder, "public", name));
  }
}

function landingPage(root: string): string {
  const readme = read(root, "README.md");
  const block = (language: string, containing: string): string => {
    const pattern = new RegExp(`^\`\`\`${language}\\n(?:(?!^\`\`\`)[\\s\\S])*?${containing}[\\s\\S]*?^\`\`\`$`, "m");
    const found = pattern.exec(readme)?.[0];
    if (found === undefined) throw new Error(`README.md has no ${language} block with ${containing}`);
    return found;
  };
  return read(root, "site/landing.md")
    .replace("<!-- graph -->", () => block("ngraph", "graph support"))
    .replace("<!-- finding -->", () => block("text", "error\\[NG301\\]"))
    .replace("<!-- picture -->", () => read(root, "docs/support.svg").trim());
}

/** A page for each example with its files, and the list of examples of the README. */
function examplePages(root: string): readonly (readonly [path: string, text: string])[] {
  const readme = read(root, "README.md");
  const section = /^## Examples\n([\s\S]*?)^## /m.exec(readme)?.[1] ?? "";
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [
    ["examples/index.md", `# Examples\n${withSiteLinks(section, "README.md")}`],
    ...folders.map(({ name }): readonly [string, string] => {
      const about = new RegExp(`^\\| \\[${name}\\]\\([^)]*\\) \\| (.*) \\|$`, "m").exec(section)?.[1] ?? "";
      const files = readdirSync(join(root, "examples", name))
        .filter(
          (file) => /\.(?:ngraph|ngraph\.yaml|yaml|ts|mjs|sh)$/.test(file) && !/\.ngraph(?:\.yaml)?\.ts$/.test(file),
        )
        .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
      const parts = files.map((file) => {
        const language = extname(file).slice(1).replace("mjs", "js");
        return `## ${file}\n\n\`\`\`\`${language}\n${read(root, `examples/${name}/${file}`).trimEnd()}\n\`\`\`\`\n`;
      });
      return [
        `examples/${name}.md`,
        [`# ${name}`, capitalised(withSiteLinks(about, "README.md")), ...parts].join("\n\n"),
      ];
    }),
  ];
}

/** Graphs come first. */
function rank(file: string): number {
  return file.endsWith(".ngraph") ? 0 : file.endsWith(".yaml") ? 2 : 1;
}

function capitalised(text: string): string {
  return text === "" ? "" : `${text[0]?.toUpperCase()}${text.slice(1)}${/[.)]$/.test(text) ? "" : "."}`;
}

function read(root: string, path: string): string {
  const full = join(root, path);
  if (!existsSync(full)) throw new Error(`the site needs ${path}, which does not exist`);
  return readFileSync(full, "utf8").replaceAll("\r\n", "\n");
}
