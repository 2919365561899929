/**
 * The name of a store without its password: `postgres://me:***@host/db`. If the text cannot be parsed as a URL, it hides more than
 * the password.
 */
export function withoutPassword(spec: string): string {
  if (/^\s*sqlite:/i.test(spec)) return spec;
  const at = spec.lastIndexOf("@");
  const shown = at === -1 ? withoutPort(spec) : withoutUser(spec, at);
  return shown
    .replace(PASSWORD_SETTING, "$1***")
    .replace(/([?&])([^=&#]+)=([^&#]*)/g, (all, mark: string, name: string, value: string) =>
      SECRET_PARAMETER.test(decoded(name)) || SECRET_PARAMETER.test(decoded(value)) ? `${mark}${name}=***` : all,
    );
}

/** `password=…` as libpq reads it: the value can be quoted, and a backslash escapes the next character. */
const PASSWORD_SETTING = /(pass(?:word|wd)?\s*=\s*)(?:'(?:\\.|''|[^'\\])*'?|"(?:\\.|[^"\\])*"?|(?:\\.|[^\s&\\])*)/gis;

/** Hides the text before an `@`: only the password after `//user:`; without `//` the whole text, because the start of the user is unknown. */
function withoutUser(spec: string, at: number): string {
  const start = spec.indexOf("://");
  if (start === -1 || at < start) {
    const scheme = /^\s*\w+:/.exec(spec)?.[0] ?? "";
    return KNOWN_SCHEME.test(scheme) ? `${scheme}***${spec.slice(at)}` : `***${spec.slice(at)}`;
  }
  const end = URL.canParse(spec) ? endOfUser(spec, start, at) : at;
  return `${hidden(spec.slice(0, end), start + 3)}${spec.slice(end)}`;
}

const KNOWN_SCHEME = /^\s*(?:postgres|postgresql|https?):$/i;

/** Hides a port that is not a number. Such a text is a user and a password whose host is missing. */
function withoutPort(spec: string): string {
  return spec.replace(/^(\s*postgres(?:ql)?:(?:\/\/)?[^/?#:]*:)(?!\d*(?:$|[/?#,]))[^/?#]*/i, "$1***");
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
function endOfUser(url: string, start: number, last: number): number {
  const authority = /^[^/?#\\]*/.exec(url.slice(start + 3))?.[0] ?? "";
  const path = /^[^?#]*/.exec(url.slice(start + 3))?.[0] ?? "";
  const at = authority.includes("@") ? authority.lastIndexOf("@") : path.lastIndexOf("@");
  // A password with a `?` or `#` looks like a query. Hides too much where a real query contains an `@`.
  return at === -1 ? last : start + 3 + at;
}

function hidden(text: string, from: number): string {
  const colon = text.indexOf(":", from);
  return colon === -1 ? text : `${text.slice(0, colon)}:***`;
}
