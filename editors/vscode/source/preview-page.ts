import type { ShownRun } from "./shown-run.ts";

/** A message to the page of a picture. */
export type PreviewMessage =
  | { readonly kind: "picture"; readonly svg: string }
  | { readonly kind: "message"; readonly message: string }
  | ({ readonly kind: "run" } & ShownRun);

/** A message of the page. */
export type PageMessage =
  { readonly kind: "ready" } | { readonly kind: "answer" } | { readonly kind: "jump"; readonly node: string };

/** Reads a message of the page; `undefined` for anything else. */
export function readPageMessage(value: unknown): PageMessage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, node } = value as { readonly kind?: unknown; readonly node?: unknown };
  if (kind === "ready" || kind === "answer") return { kind };
  return kind === "jump" && typeof node === "string" ? { kind, node } : undefined;
}

/**
 * The page of a picture. It loads its own script only; the picture comes as a message, and scripts in it would not run.
 *
 * @param source the origin of the extension's files, for the content security policy
 */
export function previewPage(title: string, source: string, script: string, style: string): string {
  const policy = `default-src 'none'; script-src ${source}; style-src ${source} 'unsafe-inline'; img-src data:`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<link rel="stylesheet" href="${escapeHtml(style)}">
<title>${escapeHtml(title)}</title>
</head>
<body>
<p id="message" role="status"></p>
<p id="run" hidden><span role="status"></span> <button type="button" hidden>Answer…</button></p>
<main id="picture" aria-label="${escapeHtml(title)}"></main>
<script src="${escapeHtml(script)}"></script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
