/**
 * The name of a store without its password: `postgres://me:***@host/db`. If the text cannot be parsed as a URL, it hides more than
 * the password.
 */
export function withoutPassword(spec: string): string {
  const start = spec.indexOf("://");
  const at = spec.lastIndexOf("@");
  let shown = spec;
  if (start !== -1 && at > start) {
    const end = URL.canParse(spec) ? endOfUser(spec, start) : at;
    if (end !== undefined) shown = `${hidden(spec.slice(0, end), start + 3)}${spec.slice(end)}`;
  }
  // Without `//` nothing says where the user begins: everything before the `@` is hidden.
  if (start === -1 && at !== -1 && !spec.startsWith("sqlite:")) {
    const scheme = /^\w+:/.exec(spec)?.[0] ?? "";
    shown = `${scheme}***${spec.slice(at)}`;
  }
  return shown
    .replace(/(pass(?:word|wd)?\s*=\s*)(?:'[^']*'|[^\s&]*)/gi, "$1***")
    .replace(/([?&])([^=&#]+)=([^&#]*)/g, (all, mark: string, name: string) =>
      SECRET_PARAMETER.test(decoded(name)) ? `${mark}${name}=***` : all,
    );
}

const SECRET_PARAMETER = /pass|pwd|secret|token|key/i;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The `@` before the host: the last one of the authority, or of the path if the password contains an unescaped `/`. */
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
