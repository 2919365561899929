/** The effects of a graph on its environment. They are known at compile time, and the engine can refuse them. */
export type GeneralEffect = "net" | "shell" | "files" | "code" | "model" | "person";

/**
 * An effect. `net` is requests to any host. `net:api.example.com` is requests to one host (`net:localhost:8080` with a port that is not
 * the default one), and `net:*.example.com` to every name below it.
 */
export type Effect = GeneralEffect | `net:${string}`;

export const GENERAL_EFFECTS: readonly GeneralEffect[] = ["net", "shell", "files", "code", "model", "person"];

/** The texts that are effects. Hosts are written as in a parsed URL: in lower case, without a default port. */
export const EFFECT_PATTERN = /^(?:net|shell|files|code|model|person|net:(?:\*\.)?[^\s/?#@*\\A-Z]+)$/;

/** Whether a list of allowed effects includes an effect. Every host belongs to `net`. */
export function isAllowed(effect: Effect, allow: readonly Effect[]): boolean {
  if (allow.includes(effect)) return true;
  if (!effect.startsWith("net:")) return false;
  return allow.includes("net") || allow.some((each) => each.startsWith("net:*.") && effect.endsWith(each.slice(5)));
}

/** The effects that both lists allow. Host patterns are nested or disjoint, so the effects of each list are enough. */
export function intersectEffects(a: readonly Effect[], b: readonly Effect[]): readonly Effect[] {
  return [...new Set([...a.filter((each) => isAllowed(each, b)), ...b.filter((each) => isAllowed(each, a))])];
}

/**
 * The effect of requests to a host, or to each name below `*.HOST`; `undefined` if the text is not a host.
 *
 * @param text a host as in `hosts` of `http`: a name or an address, with a port where it is not the default one
 */
export function effectOfHost(text: string): Effect | undefined {
  const wildcard = text.startsWith("*.") ? "*." : "";
  const name = text.slice(wildcard.length);
  if (!/^[^/?#@*\s\\]+$/.test(name) || !URL.canParse(`https://${name}`)) return undefined;
  // `http` and `https` have different default ports, and the name was parsed with `https`.
  const { host, hostname, port } = new URL(`https://${name}`);
  if (!isHostName(hostname) || port === "0") return undefined;
  const effect = `net:${wildcard}${host.replace(/:80$/, "")}`;
  return EFFECT_PATTERN.test(effect) ? (effect as Effect) : undefined;
}

/** An IPv6 address, or labels of 1 to 63 letters, digits, `_` and inner hyphens, at most 253 characters in all (RFC 1035). */
function isHostName(name: string): boolean {
  if (name.startsWith("[")) return true;
  return name.length <= 253 && /^(?!-)[\w-]{1,63}(?<!-)(?:\.(?!-)[\w-]{1,63}(?<!-))*\.?$/.test(name);
}
