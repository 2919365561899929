/** Where a file of the repository is in the site, and the anchors of headings as GitHub writes them. */
import { posix } from "node:path";

/** The address of a file of the repository in the site; `undefined` if the site does not have it. */
export function addressOf(path: string): string | undefined {
  if (path === "README.md") return "/";
  if (path === "ARCHITECTURE.md") return "/architecture";
  if (path === "CHANGELOG.md") return "/changelog";
  const example = /^examples\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (example !== null) {
    const [, folder = "", file] = example;
    return `/examples/${folder}${file === undefined ? "" : `#${slugOf(file)}`}`;
  }
  const page = /^docs\/(.+)\.md$/.exec(path)?.[1];
  if (page !== undefined) return `/${page.replace(/(^|\/)README$/, "$1")}`;
  if (path === "docs/grammar.ebnf") return "/grammar-ebnf";
  return /^docs\/(.+\.(?:svg|png))$/.exec(path)?.[1]?.replace(/^/, "/");
}

/** The anchor of a heading, as GitHub derives it. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/**
 * The page with its relative links as addresses of the site. Blocks of code stay as they are.
 *
 * @param path of the page in the repository
 * @throws if a link leads to a file that the site does not have
 */
export function withSiteLinks(markdown: string, path: string): string {
  const parts = markdown.split(/(^```[\s\S]*?^```$|`[^`\n]+`)/m);
  const isText = (part: string): boolean => !part.startsWith("`");
  return parts
    .map((part) =>
      isText(part)
        ? part.replaceAll(/\]\(([^)\s]+)\)/g, (link, target: string) => {
            if (/^(?:[a-z]+:|#|\/)/.test(target)) return link;
            const [file = "", anchor] = target.split("#");
            const address = addressOf(posix.normalize(posix.join(posix.dirname(path), file)));
            if (address === undefined) throw new Error(`${path}: the site has no page for the link to ${target}`);
            return `](${address}${anchor === undefined ? "" : `#${anchor}`})`;
          })
        : part,
    )
    .join("");
}
