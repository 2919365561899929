import { useEffect, useRef, useState } from "preact/hooks";
import type { PlanRunLog } from "../service/client.ts";
import { client, sentenceOf } from "./connection.ts";

const POLL_MS = 500;
/** The end of a log that the page shows. */
const MOST_BYTES = 512 * 1024;
const MOST_CHARACTERS = 1024 * 1024;

/** What an attempt has printed, as it grows. */
export function PlanLog({ run, log }: { readonly run: string; readonly log: PlanRunLog }) {
  const [text, setText] = useState("");
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  const place = useRef<HTMLPreElement>(null);
  const start = Math.max(0, log.bytes - MOST_BYTES);
  useEffect(() => {
    const controller = new AbortController();
    const read = async (): Promise<void> => {
      let from = start;
      while (!controller.signal.aborted) {
        try {
          const part = await client.planLog(run, log.log, from, controller.signal);
          setProblem(undefined);
          const isAtEnd = part.next >= part.bytes || part.next === from;
          from = part.next;
          if (part.text !== "") setText((known) => (known + withoutCodes(part.text)).slice(-MOST_CHARACTERS));
          if (part.over && isAtEnd) {
            setOver(true);
            return;
          }
          if (!isAtEnd) continue;
        } catch (error) {
          if (controller.signal.aborted) return;
          setProblem(sentenceOf(error));
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    };
    void read();
    return () => controller.abort();
  }, [run, log.log]);
  // Follows the end, unless the person has scrolled up.
  const follows = useRef(true);
  useEffect(() => {
    const { current } = place;
    if (current !== null && follows.current) current.scrollTop = current.scrollHeight;
  }, [text]);
  return (
    <div class="log">
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      {start > 0 ? <p class="quiet">The page shows the end: {start.toLocaleString()} bytes come before it.</p> : null}
      <pre
        ref={place}
        tabIndex={0}
        aria-label={`Log of ${log.task}`}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollTop + clientHeight >= scrollHeight - 8;
        }}
      >
        {text === "" && isOver ? "Nothing was printed." : text}
      </pre>
      {isOver ? null : <p role="status">The log grows while the run works.</p>}
    </div>
  );
}

/** Without the codes of colours and cursors, which terminals understand. */
function withoutCodes(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the codes begin with the control character ESC
  return text.replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|.)/g, "");
}
