/**
 * What names a store, to be shown: `postgres://me:***@host/db`. Where it is no URL that can be taken apart, rather too much is
 * hidden than too little.
 */
export function withoutPassword(spec: string): string {
  const start = spec.indexOf("://");
  const at = spec.lastIndexOf("@");
  let shown = spec;
  if (start !== -1 && at > start) {
    const end = URL.canParse(spec) ? endOfUser(spec, start) : at;
    if (end !== undefined) shown = `${hidden(spec.slice(0, end), start + 3)}${spec.slice(end)}`;
  }
  return shown.replace(/(pass(?:word|wd)?\s*=\s*)(?:'[^']*'|[^\s&]*)/gi, "$1***");
}

/** The `@` in front of the host: the last one of the authority; of the path, where the password has a `/` that is not escaped. */
function endOfUser(url: string, start: number): number | undefined {
  const authority = /^[^/?#\\]*/.exec(url.slice(start + 3))?.[0] ?? "";
  const path = /^[^?#]*/.exec(url.slice(start + 3))?.[0] ?? "";
  const at = authority.includes("@") ? authority.lastIndexOf("@") : path.lastIndexOf("@");
  return at === -1 ? undefined : start + 3 + at;
}

function hidden(text: string, from: number): string {
  const colon = text.indexOf(":", from);
  return colon === -1 ? text : `${text.slice(0, colon)}:***`;
}
