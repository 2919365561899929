import { printable } from "../../diagnostics/render/index.ts";
import { adminBeside } from "../../hosts/restate/admin.ts";
import { readAddress } from "../../hosts/restate/server-address.ts";
import { serviceNames } from "../../hosts/restate/service-names.ts";
import type { Output } from "../output/output.ts";
import { withoutPassword } from "../output/mask-password.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { checkUrl } from "./open-host.ts";
import type { ServedGraph } from "../sources/load-served-graphs.ts";

interface Deployment {
  readonly ingress: string;
  readonly worker: string;
  readonly admin: string | undefined;
  readonly isForced: boolean;
}

interface Registered {
  readonly id: string;
  readonly services: readonly { readonly name: string; readonly metadata?: Readonly<Record<string, string>> }[];
}

/** Registers workers with Restate. Checks that they serve these versions of the graphs before the host sends runs to them. */
export async function deployWorkers(
  graphs: readonly ServedGraph[],
  { ingress, worker, admin, isForced }: Deployment,
  output: Output,
): Promise<ExitCode> {
  const uri = checkUrl("--worker", worker);
  const url = admin === undefined ? adminBeside(ingress) : checkUrl("--admin", admin);
  const planned = await register(url, { uri, force: isForced, dry_run: true });
  for (const { table } of graphs) {
    const service = planned.services.find(({ name }) => name === serviceNames(table.name).runs);
    if (service === undefined) {
      throw new CommandError(`the workers at ${printable(withoutPassword(uri))} do not serve graph \`${table.name}\``, {
        exitCode: EXIT.failed,
        help: "start them with its file: `ngc worker FILE…`",
      });
    }
    const digest = service.metadata?.["ngraph.digest"];
    if (digest !== undefined && digest !== table.digest) {
      throw new CommandError(
        `the workers at ${printable(withoutPassword(uri))} serve another version of graph \`${table.name}\``,
        {
          exitCode: EXIT.failed,
          help: "start workers with the present files, at an address of their own",
        },
      );
    }
  }
  const { id } = await register(url, { uri, force: isForced });
  const names = graphs.map(({ table }) => table.name);
  output.document({ version: 1, deployment: id, worker: withoutPassword(uri), graphs: names });
  output.result(`deployed ${names.join(", ")} at ${withoutPassword(uri)}`);
  return EXIT.ok;
}

async function register(admin: string, body: object): Promise<Registered> {
  const { address, authorization } = readAddress(admin);
  let response: Response;
  try {
    response = await fetch(`${address}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization && { authorization }) },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw new CommandError(`the administration of Restate at ${printable(withoutPassword(admin))} does not answer`, {
      exitCode: EXIT.failed,
      help: "name its address with --admin",
      cause,
    });
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Registered;
  throw new CommandError(`Restate refused the deployment (status ${response.status}): ${printable(messageOf(text))}`, {
    exitCode: EXIT.failed,
    help:
      response.status === 409 ? "give each version of the workers an address of its own, or use --force" : undefined,
  });
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message.slice(0, 500) : text.slice(0, 500);
  } catch {
    return text.slice(0, 500);
  }
}
