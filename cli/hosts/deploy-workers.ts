import { printable } from "../../diagnostics/render/index.ts";
import { Admin } from "../../hosts/restate/admin.ts";
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
  const host = new Admin({ url: ingress, ...(admin === undefined ? {} : { admin: checkUrl("--admin", admin) }) });
  const planned = await register(host, { uri, force: isForced, dry_run: true });
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
  const { id } = await register(host, { uri, force: isForced });
  const names = graphs.map(({ table }) => table.name);
  output.document({ version: 1, deployment: id, worker: withoutPassword(uri), graphs: names });
  output.result(`deployed ${names.join(", ")} at ${withoutPassword(uri)}`);
  return EXIT.ok;
}

async function register(admin: Admin, body: object): Promise<Registered> {
  const answer = await admin.post("/deployments", body);
  const registered = readRegistered(answer.body);
  if (answer.status < 300 && registered !== undefined) return registered;
  const error = admin.refused("refuses the deployment", answer);
  throw new CommandError(printable(error.message), {
    exitCode: EXIT.failed,
    help: helpFor(answer),
    cause: error,
  });
}

function readRegistered(text: string): Registered | undefined {
  try {
    const value = JSON.parse(text) as Registered | null;
    return typeof value?.id === "string" && Array.isArray(value.services) ? value : undefined;
  } catch {
    return undefined;
  }
}

function helpFor({ status, body }: { readonly status: number; readonly body: string }): string | undefined {
  if (status === 409) return "give each version of the workers an address of its own, or use --force";
  // The code of a worker that Restate cannot call.
  if (!body.includes("META0003")) return undefined;
  return "start the workers with `ngc worker FILE…`, and give --worker their address as Restate reaches it";
}
