/** The connection with the service that has served the page. */
import { createClient, ServiceError, type Client } from "../service/client.ts";

const TOKEN = "ngraph.token";

/** The token lives as long as the tab. */
export function rememberToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

export function hasToken(): boolean {
  return (sessionStorage.getItem(TOKEN) ?? "") !== "";
}

/** The page is at `…/studio`, beside the routes. */
const url = new URL(".", location.href).href;

export const client: Client = createClient({
  url,
  fetch: (input, init) => {
    const token = sessionStorage.getItem(TOKEN);
    const headers = new Headers(init?.headers);
    if (token !== null && token !== "") headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  },
});

/** The sentence that the page shows for an error. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ServiceError) {
    const details = error.problem.details ?? [];
    return [error.message, ...details].join("; ");
  }
  if (error instanceof TypeError) return "the service does not answer; the page tries again";
  return error instanceof Error ? error.message : String(error);
}

export function needsToken(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 401;
}
