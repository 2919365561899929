import { StringDecoder } from "node:string_decoder";
import type { RunningCommand } from "../../stdlib/nodes/shell.ts";
import type { RunDirectory } from "./run-directory.ts";

/** A line longer than this is written in parts, in characters. */
const LONGEST_LINE = 64 * 1024;

/** The files that keep what the commands of a run print: one for each attempt of a task, both streams as they arrive. */
export interface OutputLogs {
  write(command: RunningCommand, stream: "stdout" | "stderr", chunk: Uint8Array): void;
  /** The command has ended. */
  end(command: RunningCommand): void;
}

interface OpenLog {
  readonly file: ReturnType<RunDirectory["openLog"]>;
  readonly rests: Record<"stdout" | "stderr", { readonly decoder: StringDecoder; text: string }>;
}

/** Output is written by whole lines: a secret that arrives in two parts is found, and the streams do not mix in a line. */
export function createOutputLogs(
  directory: Pick<RunDirectory, "openLog">,
  redact: (text: string) => string,
): OutputLogs {
  const open = new Map<number, OpenLog>();
  const openFor = ({ group, node, attempt }: RunningCommand): OpenLog => {
    const known = open.get(group);
    if (known !== undefined) return known;
    const rest = () => ({ decoder: new StringDecoder("utf8"), text: "" });
    const log = { file: directory.openLog(node, attempt), rests: { stdout: rest(), stderr: rest() } };
    open.set(group, log);
    return log;
  };
  return {
    write(command, stream, chunk) {
      const { file, rests } = openFor(command);
      const rest = rests[stream];
      const text = rest.text + rest.decoder.write(Buffer.from(chunk));
      const end = text.length > LONGEST_LINE ? text.length : text.lastIndexOf("\n") + 1;
      rest.text = text.slice(end);
      if (end > 0) file.write(redact(text.slice(0, end)));
    },
    end(command) {
      const log = open.get(command.group);
      if (log === undefined) return;
      open.delete(command.group);
      try {
        for (const stream of ["stdout", "stderr"] as const) {
          const { decoder, text } = log.rests[stream];
          const last = text + decoder.end();
          if (last !== "") log.file.write(`${redact(last)}\n`);
        }
      } finally {
        log.file.close();
      }
    },
  };
}
