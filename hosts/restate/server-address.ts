/** The address of a server of Restate, whose user and password are sent in a header. */

/**
 * The address without its user and password, which `fetch` refuses and which no message may show, and the header that carries them.
 *
 * @throws TypeError for a text that is no such address. The text is not shown: it may contain a password.
 */
export function readAddress(
  text: string,
  example = "give its ingress as `http://host:8080`",
): { readonly address: string; readonly authorization?: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`the text is not the address of a Restate server: ${example}`);
  if (url.search !== "" || url.hash !== "")
    throw new TypeError(`the address of the Restate server at ${url.host} has a query or a fragment: ${example}`);
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  if (url.username === "" && url.password === "") return { address };
  const credentials = new TextEncoder().encode(`${decoded(url.username)}:${decoded(url.password)}`);
  return { address, authorization: `Basic ${btoa(String.fromCharCode(...credentials))}` };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
