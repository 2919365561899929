import { StringDecoder } from "node:string_decoder";
import type { RunningCommand } from "../../stdlib/shell/shell-options.ts";
import type { RunDirectory } from "./run-directory.ts";

/** A longer text without a line break is written in parts, in characters. */
const LONGEST_LINE = 64 * 1024;

/**
 * The end of a text that is kept back while more may follow, in characters: a secret of several lines, or its base64,
 * can be replaced only if its text is whole.
 */
const KEPT_BACK = 64 * 1024;

/** Time without output after which a text that was kept back is written, in milliseconds. */
const SILENCE_MS = 1000;

/** The files that keep what the commands of a run print: one for each attempt of a task, both streams as they arrive. */
export interface OutputLogs {
  write(command: RunningCommand, stream: "stdout" | "stderr", chunk: Uint8Array): void;
  /** The command has ended. */
  end(command: RunningCommand): void;
}

interface OpenLog {
  readonly node: string;
  readonly file: ReturnType<RunDirectory["openLog"]>;
  readonly rests: Record<"stdout" | "stderr", { readonly decoder: StringDecoder; text: string }>;
  silence: NodeJS.Timeout | undefined;
}

/**
 * Output is written by whole lines, so that the streams do not mix in a line.
 *
 * @param redact replaces the values of secrets
 * @param onText called with what is written to the log of a command
 * @param hasSecrets whether there are any: without them, each line is written at once
 */
export function createOutputLogs(
  directory: Pick<RunDirectory, "openLog">,
  redact: (text: string) => string,
  hasSecrets: boolean,
  onText?: (node: string, text: string) => void,
): OutputLogs {
  const open = new Map<number, OpenLog>();
  const openFor = ({ group, node, attempt }: RunningCommand): OpenLog => {
    const known = open.get(group);
    if (known !== undefined) return known;
    const rest = () => ({ decoder: new StringDecoder("utf8"), text: "" });
    const log: OpenLog = {
      node,
      file: directory.openLog(node, attempt),
      rests: { stdout: rest(), stderr: rest() },
      silence: undefined,
    };
    open.set(group, log);
    return log;
  };
  /** Writes the whole lines of a stream, except for the last `keep` characters. */
  const flush = ({ node, file, rests }: OpenLog, stream: "stdout" | "stderr", keep: number): void => {
    const rest = rests[stream];
    const most = rest.text.length - keep;
    if (most <= 0) return;
    const line = rest.text.lastIndexOf("\n", most - 1) + 1;
    const end = line === 0 && most > LONGEST_LINE ? most : line;
    if (end === 0) return;
    const [first, second] = [rest.text.slice(0, end), rest.text.slice(end)];
    const shown = redact(first);
    // A secret lies across the end: the next part of the output decides.
    if (keep > 0 && shown + redact(second) !== redact(rest.text)) return;
    file.write(shown);
    onText?.(node, shown);
    rest.text = second;
  };
  const flushBoth = (log: OpenLog): void => {
    flush(log, "stdout", 0);
    flush(log, "stderr", 0);
  };
  return {
    write(command, stream, chunk) {
      const log = openFor(command);
      const rest = log.rests[stream];
      rest.text += rest.decoder.write(Buffer.from(chunk));
      if (!hasSecrets) return flush(log, stream, 0);
      if (rest.text.length > 2 * KEPT_BACK) flush(log, stream, KEPT_BACK);
      clearTimeout(log.silence);
      log.silence = setTimeout(flushBoth, SILENCE_MS, log).unref();
    },
    end(command) {
      const log = open.get(command.group);
      if (log === undefined) return;
      open.delete(command.group);
      clearTimeout(log.silence);
      try {
        for (const stream of ["stdout", "stderr"] as const) {
          const { decoder, text } = log.rests[stream];
          const last = text + decoder.end();
          if (last !== "") log.file.write(redact(last.endsWith("\n") ? last : `${last}\n`));
        }
      } finally {
        log.file.close();
      }
    },
  };
}
