import { useEffect, useRef, useState } from "preact/hooks";
import type { Mark } from "../studio/marks.ts";

export interface PlayedStep {
  readonly ran: readonly string[];
  /** What else there is to say about the step. */
  readonly text: string;
}

const PACE_MS = 900;

/** Steps that play one after the other. Other steps need an element with another key. */
export function Player({
  steps,
  end,
  onMarks,
}: {
  readonly steps: readonly PlayedStep[];
  readonly end: string;
  readonly onMarks: (marks: ReadonlyMap<string, Mark>) => void;
}) {
  const [at, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(true);
  const last = steps.length - 1;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    onMarks(marksAt(steps, at));
    if (list.current !== null) revealStep(list.current, at);
  }, [at]);
  useEffect(() => {
    if (!isPlaying) return;
    if (at >= last) return setPlaying(false);
    const timer = setTimeout(() => setAt(at + 1), PACE_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, at, last]);
  const go = (step: number): void => {
    setPlaying(false);
    setAt(Math.max(0, Math.min(last, step)));
  };
  return (
    <div class="player" role="group" aria-label="Steps of the run">
      <div class="actions">
        <button onClick={() => go(0)} aria-label="First step" disabled={at === 0}>
          |◀
        </button>
        <button onClick={() => go(at - 1)} aria-label="Previous step" disabled={at === 0}>
          ◀
        </button>
        <button
          class="primary"
          onClick={() => {
            if (!isPlaying && at >= last) setAt(0);
            setPlaying(!isPlaying);
          }}
        >
          {isPlaying ? "Pause" : at >= last ? "Play again" : "Play"}
        </button>
        <button onClick={() => go(at + 1)} aria-label="Next step" disabled={at >= last}>
          ▶
        </button>
        <span class="quiet">
          step {at + 1} of {steps.length}
        </span>
      </div>
      <ol class="steps" ref={list}>
        {steps.map(({ ran, text }, index) => (
          <li key={index} aria-current={index === at ? "step" : undefined}>
            <button class="plain" onClick={() => go(index)}>
              <b>{ran.join(", ")}</b>
              {text === "" ? null : <span class="quiet"> {text}</span>}
            </button>
          </li>
        ))}
      </ol>
      {at >= last && end !== "" ? <p class="quiet">{end}</p> : null}
    </div>
  );
}

/** Scrolls the list alone: the page stays where its reader is. */
function revealStep(list: HTMLElement, index: number): void {
  const row = list.children[index]?.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (row === undefined || (row.top >= frame.top && row.bottom <= frame.bottom)) return;
  list.scrollBy(0, row.top - frame.top - (frame.height - row.height) / 2);
}

function marksAt(steps: readonly PlayedStep[], at: number): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  steps.slice(0, at + 1).forEach(({ ran }, index) => {
    for (const node of new Set(ran)) {
      const runs = (marks.get(node)?.runs ?? 0) + 1;
      marks.set(node, { status: index === at ? "running" : "done", runs });
    }
  });
  return marks;
}
