/** An MCP server: a field of `servers` in `ngraph.json`. */
export type ServerSettings = CommandServer | HttpServer;

interface CommonSettings {
  /** Tools whose calls by a model a person approves; `true` for all. */
  readonly approve?: true | readonly string[];
}

/** A server that is started as a process and speaks over its standard streams. */
export interface CommandServer extends CommonSettings {
  /** A program and its arguments. */
  readonly command: readonly string[];
  readonly cwd?: string;
  /** Environment variables. `${NAME}` is replaced by the secret NAME. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server that speaks Streamable HTTP. */
export interface HttpServer extends CommonSettings {
  readonly url: string;
  /** Headers of each request. `${NAME}` is replaced by the secret NAME. */
  readonly headers?: Readonly<Record<string, string>>;
}

const FIELDS: Readonly<Record<string, readonly [accepts: (value: unknown) => boolean, expected: string]>> = {
  command: [
    (value) => isTextList(value) && value.length > 0 && value[0] !== "",
    'a list with a program and its arguments: ["npx", "server"]',
  ],
  cwd: [isText, "the path of a directory"],
  env: [isTextRecord, "an object of strings"],
  url: [
    (value) =>
      isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !hasCredentials(value),
    "an http(s) URL without a user and a password (they are sent in `headers`)",
  ],
  headers: [isTextRecord, "an object of strings"],
  approve: [(value) => value === true || isTextList(value), "true or a list of names of tools"],
};
const OF_COMMAND = ["command", "cwd", "env", "approve"];
const OF_HTTP = ["url", "headers", "approve"];

/** A problem of settings from a file; `undefined` if they are valid. */
export function problemOfServer(settings: unknown): string | undefined {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) return "must be an object";
  const fields = settings as Readonly<Record<string, unknown>>;
  if ((fields["command"] === undefined) === (fields["url"] === undefined)) return "needs either `command` or `url`";
  const known = fields["command"] === undefined ? OF_HTTP : OF_COMMAND;
  for (const [name, value] of Object.entries(fields)) {
    if (!known.includes(name)) return `has the unknown field ${JSON.stringify(name)} (known: ${known.join(", ")})`;
    const [accepts, expected] = FIELDS[name]!;
    if (!accepts(value)) return `\`${name}\` must be ${expected}`;
  }
  return undefined;
}

/** Whether a URL has a user or a password. `fetch` refuses such a URL, and names it in its error. */
export function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isTextRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string");
}
