import { basename } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { defineCommand } from "../start/define-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const completionCommand = defineCommand<object>({
  usage: "completion [shell]",
  summary: "print a script that completes commands, options and their values: bash, zsh or fish",
  configure: (command) => {
    for (const argument of command.registeredArguments) argument.argChoices = [...SHELLS];
  },
  examples: [
    "ngc completion bash > /etc/bash_completion.d/ngc",
    "source <(ngc completion zsh)",
    "ngc completion fish > ~/.config/fish/completions/ngc.fish",
  ],
  run: async ([shell], _, output, program) => {
    if (shell === undefined) {
      throw new CommandError(`name the shell: ${SHELLS.join(", ")}`, {
        help: `\`ngc completion ${usersShell()}\` prints the script, \`ngc completion --help\` shows where it belongs`,
      });
    }
    const known = SHELLS.find((each) => each === shell);
    if (known === undefined) {
      throw new CommandError(`there is no completion for \`${shell}\``, {
        help: `the shells are ${SHELLS.join(", ")}`,
      });
    }
    const { completionScript } = await import("../output/completion-script.ts");
    const text = completionScript(known, program);
    output.document({ version: 1, shell: known, text });
    output.result(text.trimEnd());
    return EXIT.ok;
  },
});

/** The shell from which the command was started, as far as it is known. */
function usersShell(): string {
  const name = basename(process.env["SHELL"] ?? "");
  return SHELLS.find((each) => each === name) ?? SHELLS[0];
}
