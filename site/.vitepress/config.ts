/** The site of the documentation: `npm run docs:build` writes it to `dist-site/html`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type DefaultTheme } from "vitepress";
import { assemblePages, sitePages } from "../assemble-pages.ts";
import { GROUPS } from "../navigation.ts";
import { slugOf } from "../site-links.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = sitePages(root);
assemblePages(root, `${root}/dist-site/pages`);

const grammar = JSON.parse(readFileSync(`${root}/grammar/ngraph.tmLanguage.json`, "utf8")) as object;
const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { readonly version: string };

/** The first heading of a page. */
function titleOf(path: string): string {
  const title = /^# (.*)$/m.exec(pages.get(`${path}.md`) ?? "")?.[1];
  if (title === undefined) throw new Error(`the site has no page ${path} with a heading`);
  return title.replaceAll("`", "");
}

const linkTo = (path: string): string => `/${path.replace(/index$/, "")}`;

const sidebar: DefaultTheme.SidebarItem[] = GROUPS.map(({ text, pages: paths }) => ({
  text,
  items: paths.map((path) => ({ text: titleOf(path), link: linkTo(path) })),
}));

/**
 * The words of a search, and their stems: pages speak of a `stream` where a reader looks for streaming. The page gets the text of this
 * function, so that it uses nothing around it.
 */
function searchTerms(term: string): string[] {
  const word = term.toLowerCase();
  if (word.length < 7 || !word.endsWith("ing")) return [word];
  return [word, word.slice(0, -3).replace(/([bdgmnprt])\1$/, "$1")];
}

export default defineConfig({
  title: "ngraph",
  description: "Agent and workflow graphs as small text files: checked, proven, and run durably",
  srcDir: "../dist-site/pages",
  outDir: "../dist-site/html",
  cacheDir: "../dist-site/cache",
  // Links are relative to this address: NGRAPH_SITE_BASE=/docs/ for a site below a path.
  base: process.env["NGRAPH_SITE_BASE"] ?? "/",
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    anchor: { slugify: slugOf },
    toc: { slugify: slugOf },
    languages: [{ ...grammar, name: "ngraph" } as never],
    theme: { light: "github-light", dark: "github-dark" },
  },
  themeConfig: {
    nav: [
      { text: "Guide", link: "/guide" },
      { text: "Language", link: "/language" },
      { text: "Diagnostics", link: "/diagnostics/" },
      { text: "API", link: "/api/" },
      { text: "Examples", link: "/examples/" },
      { text: version, link: "/changelog" },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: { miniSearch: { searchOptions: { processTerm: searchTerms } } } },
    docFooter: { prev: "Previous page", next: "Next page" },
  },
});
