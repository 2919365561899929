import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadServedGraphs } from "../sources/load-served-graphs.ts";
import { defineCommand } from "../start/define-command.ts";
import { HOST_FLAG, HOST_HELP, parseHost } from "../hosts/open-host.ts";

interface DeployFlags {
  readonly host?: string;
  readonly worker?: string;
  readonly admin?: string;
  readonly force?: boolean;
}

export const deployCommand = defineCommand<DeployFlags>({
  usage: "deploy <file...>",
  summary: "make workers known to their host: it sends new runs of the graphs to them",
  configure: (command) => {
    command
      .option(HOST_FLAG, HOST_HELP)
      .option("--worker <url>", "the address of the workers, as the host reaches it")
      .option("--admin <url>", "the address of Restate's administration (default: that of the host, port 9070)")
      .option("--force", "replace what the host knows about this address");
  },
  examples: [
    "ngc deploy support.ngraph --host restate:http://localhost:8080 --worker http://localhost:9080",
    "ngc deploy support.ngraph refunds.ngraph --host restate:http://restate:8080 --worker http://workers-v2:9080",
  ],
  run: async (files, { host, worker, admin, force }, output) => {
    if (host === undefined || worker === undefined) {
      throw new CommandError(`a deployment needs --${host === undefined ? "host" : "worker"}`, {
        help: "`--host restate:http://localhost:8080 --worker http://localhost:9080`",
      });
    }
    const ingress = parseHost(host);
    const graphs = await loadServedGraphs(files, output);
    if (graphs === undefined) return EXIT.invalid;
    const { deployWorkers } = await import("../hosts/deploy-workers.ts");
    return deployWorkers(graphs, { ingress, worker, admin, isForced: force === true }, output);
  },
});
