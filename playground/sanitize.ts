const KEPT: ReadonlySet<string> = new Set([
  "P",
  "PRE",
  "CODE",
  "EM",
  "STRONG",
  "UL",
  "OL",
  "LI",
  "BR",
  "HR",
  "SPAN",
  "BLOCKQUOTE",
  "H1",
  "H2",
  "H3",
]);

/**
 * Documentation as HTML with nothing but text, lists and code. The texts of a shared address are in it. Elements of other kinds leave
 * their text, and attributes are dropped but for the classes of coloured code.
 */
export function sanitizeHtml(html: string): string {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const out = document.createElement("div");
  copyChildren(body, out);
  return out.innerHTML;
}

function copyChildren(from: Node, to: Node): void {
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) {
      to.appendChild(document.createTextNode(child.textContent ?? ""));
      continue;
    }
    if (!(child instanceof HTMLElement)) continue;
    if (!KEPT.has(child.tagName)) {
      if (child.tagName !== "SCRIPT" && child.tagName !== "STYLE") copyChildren(child, to);
      continue;
    }
    const element = document.createElement(child.tagName);
    const names = [...child.classList].filter((name) => /^tok-[\w-]+$/.test(name));
    if (names.length > 0) element.className = names.join(" ");
    copyChildren(child, element);
    to.appendChild(element);
  }
}
