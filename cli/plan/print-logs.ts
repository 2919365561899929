import { StringDecoder } from "node:string_decoder";
import { readFrom, type TaskLog } from "./read-logs.ts";

/** Where the output of tasks is printed. */
interface LogSink {
  title(text: string): void;
  /** Whole lines, or a part of a long line. */
  text(text: string): void;
  /** The last line of a log has no line break. */
  endLine(): void;
}

/** A longer line is printed in parts, in characters: a line may be longer than the longest string. */
const LONGEST_LINE = 1024 * 1024;

export interface LogPrinter {
  /** Prints what a log has in addition to the last call. A line without an end is printed when `isGrowing` is `false`. */
  print(log: TaskLog, isGrowing: boolean): void;
}

interface LogState {
  /** The number of bytes that have been read. */
  position: number;
  /** The begin of a line whose end has not been read. */
  rest: string;
  /** The part of a line that has been printed lacks its line break. */
  isOpen: boolean;
  readonly decoder: StringDecoder;
}

/** Prints logs in parts, so that they may have any size. A title precedes the part of each log. */
export function createLogPrinter(sink: LogSink): LogPrinter {
  const states = new Map<string, LogState>();
  let last: string | undefined;
  const printTitle = ({ task, check, attempt, path }: TaskLog): void => {
    if (last === path) return;
    last = path;
    const what = check === undefined ? "" : `, check ${check}`;
    sink.title(`==> ${task}, try ${attempt}${what} <==`);
  };
  return {
    print(log, isGrowing) {
      let state = states.get(log.path);
      if (state === undefined) {
        state = { position: 0, rest: "", isOpen: false, decoder: new StringDecoder("utf8") };
        states.set(log.path, state);
      }
      for (const part of readFrom(log.path, state.position)) {
        state.position += part.byteLength;
        const text = state.decoder.write(part);
        const end = text.lastIndexOf("\n") + 1;
        if (end === 0 && state.rest.length + text.length <= LONGEST_LINE) {
          state.rest += text;
          continue;
        }
        const isLineEnd = end > 0;
        printTitle(log);
        sink.text(state.rest + (isLineEnd ? text.slice(0, end) : text));
        state.rest = isLineEnd ? text.slice(end) : "";
        state.isOpen = !isLineEnd;
      }
      if (isGrowing || (state.rest === "" && !state.isOpen)) return;
      printTitle(log);
      if (state.rest !== "") sink.text(state.rest);
      sink.endLine();
      state.rest = "";
      state.isOpen = false;
    },
  };
}
