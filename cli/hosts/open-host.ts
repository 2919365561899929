import type { Command } from "commander";
import type { RestateHost } from "../../hosts/restate/restate.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { withoutPassword } from "../output/mask-password.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";

export const HOST_FLAG = "--host <host>";
export const ADMIN_FLAG = "--admin <url>";
export const HOST_HELP = "the host of runs: restate:URL, with the URL of Restate's ingress";

/** The address of Restate's ingress in `--host`. @throws CommandError */
export function parseHost(spec: string): string {
  const url = spec.replace(/^restate:(?=https?:)/, "");
  const parsed = url !== spec && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && (parsed.search !== "" || parsed.hash !== ""))
    throw new CommandError(`the address of --host has a query or a fragment: \`${withoutPassword(spec)}\``, {
      help: "a user and a password belong before the host: `restate:http://USER:PASSWORD@localhost:8080`",
    });
  if (parsed !== undefined && parsed.hostname !== "") return url.replace(/\/+$/, "");
  throw new CommandError(`--host takes restate:URL, not \`${withoutPassword(spec)}\``, {
    help: "the URL is the one of Restate's ingress: `restate:http://localhost:8080`",
  });
}

/** The flag with which a later command finds the same host. */
export function hostFlag(given: string): string {
  return ` --host ${quoteArgument(withoutPassword(given))}`;
}

/** Adds the flags of commands that start or resume a run. @param what which runs a host takes */
export function addHostOptions(command: Command, what: string): void {
  command
    .option(HOST_FLAG, `${what}: ${HOST_HELP}`)
    .option("--deployed", "with --host: use the deployed version of the graph, also if the file differs from it");
}

/** What commands that start or resume a run say about their host. */
export interface HostFlags {
  readonly host?: string;
  readonly deployed?: boolean;
}

/** @throws CommandError for a flag of hosts without a host */
export function checkHostFlags({ host, deployed }: HostFlags): void {
  if (host === undefined && deployed === true) throw new CommandError("--deployed belongs to --host");
}

interface HostSettings {
  /** The address of Restate's administration, which lists threads. */
  readonly admin?: string | undefined;
  /** Whether runs are refused that the host would execute with another version of their graph. */
  readonly sameVersion?: boolean;
}

export async function openHost(given: string, { admin, sameVersion = false }: HostSettings = {}): Promise<RestateHost> {
  const url = parseHost(given);
  const { restate } = await import("../../hosts/restate/restate.ts");
  return restate({ url, sameVersion, ...(admin === undefined ? {} : { admin: checkUrl("--admin", admin) }) });
}

/** @throws CommandError for a text that is no address of HTTP */
export function checkUrl(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (isAddress) return text.replace(/\/+$/, "");
  throw new CommandError(`${flag} takes an address such as http://localhost:9080, not \`${withoutPassword(text)}\``);
}

/** @throws CommandError for a plan */
export function refusePlanOnHost(table: Table | PlanTable): asserts table is Table {
  if (table.kind === "plan") throw new CommandError("--host runs graphs, and this file has a plan");
}
