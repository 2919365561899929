/** The files of the studio, which `ngc serve --studio` adds to the routes of the service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "../../service/index.ts";
import { packageRoot } from "../start/package-root.ts";

const FILES = [
  ["/studio", "index.html", "text/html; charset=utf-8"],
  ["/studio/studio.js", "studio.js", "text/javascript; charset=utf-8"],
  ["/studio/studio.css", "studio.css", "text/css; charset=utf-8"],
] as const;

/** The page loads its own files and calls its own service. Nothing may frame it: a click on an approval is meant. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Adds the page of the studio at `/studio`. The files have no secrets, so they need no token; the routes that the page calls do. */
export function addStudio({ app }: Service): void {
  for (const [path, file, type] of FILES) {
    const body = readFileSync(join(packageRoot(), "dist", "cli", "studio", file));
    app.get(path, () => new Response(body, { headers: { ...HEADERS, "content-type": type } }));
  }
}

const HEADERS = {
  "cache-control": "no-cache",
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};
