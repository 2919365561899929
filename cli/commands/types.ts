import { typeOutputs } from "../sources/compile-outputs.ts";
import { writeCompiled, type WriteOptions } from "../sources/write-compiled.ts";
import { defineCommand } from "../start/define-command.ts";

export const typesCommand = defineCommand<WriteOptions>({
  usage: "types <path...>",
  summary: "check, then write the types of each source beside it, for imports of the graph file",
  configure: (command) => {
    command
      .option("--check", "write nothing; exit 1 when a written file is stale or missing")
      .option("--watch", "compile again when a file changes");
  },
  examples: ["ngc types support.ngraph", "ngc types graphs/ --watch"],
  run: (paths, options, output) => writeCompiled(paths, typeOutputs, options, output),
});
