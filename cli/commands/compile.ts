import { compileOutputs, TARGETS, type Target } from "../sources/compile-outputs.ts";
import { writeCompiled, type WriteOptions } from "../sources/write-compiled.ts";
import { defineCommand } from "../start/define-command.ts";
import { choiceOption } from "../run/parse-values.ts";

interface CompileOptions extends WriteOptions {
  readonly out?: string;
  readonly target?: Target;
}

export const compileCommand = defineCommand<CompileOptions>({
  usage: "compile <path...>",
  summary: "check, then write a typed module beside each source",
  configure: (command) => {
    command
      .option("--out <directory>", "write to this directory instead of beside the sources")
      .addOption(choiceOption("--target <target>", "js writes declarations too, json the tables; default: ts", TARGETS))
      .option("--check", "write nothing; exit 1 when a written file is stale or missing")
      .option("--watch", "compile again when a file changes");
  },
  examples: ["ngc compile support.ngraph", "ngc compile graphs/ --target js --out dist", "ngc compile . --check"],
  run: (paths, { target = "ts", out, ...options }, output) =>
    writeCompiled(paths, (result) => compileOutputs(result, target, out), options, output),
});
