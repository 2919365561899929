import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where this package lies, in the sources as in an installation: documentation is found from here. */
export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) return at;
    if (dirname(at) === at) return start;
  }
}
