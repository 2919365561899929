/** Two checkpoints side by side: the values that differ, and the steps of both branches since they parted. */
import type { Json, JsonObject } from "../runtime/value/json.ts";
import type { Difference } from "./difference.ts";
import { parentOf, stepText, type KnownCheckpoints } from "./steps.ts";
import type { Base } from "./timeline.tsx";
import { ValueText } from "./value-text.tsx";

interface CompareProps {
  readonly base: Base;
  readonly thread: string;
  readonly id: string;
  readonly step: number;
  readonly differences: readonly Difference[];
  /** Of the thread, with those of all branches. */
  readonly known: KnownCheckpoints;
  /** The ids of the present branch. */
  readonly present: ReadonlySet<string>;
}

export function Compare({ base, thread, id, step, differences, known, present }: CompareProps) {
  const branches = base.thread === thread ? branchesOf(base.id, id, known) : undefined;
  const branchOf = (checkpoint: string) => (present.has(checkpoint) ? "" : ", other branch");
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Two checkpoints side by side">
      <table class="compare">
        <thead>
          <tr>
            <td />
            <th scope="col">
              Step {base.step} of {base.thread}
              {base.thread === thread ? branchOf(base.id) : ""}
            </th>
            <th scope="col">
              Step {step} of {thread}
              {branchOf(id)}
            </th>
          </tr>
        </thead>
        <tbody>
          {branches === undefined ? null : (
            <tr>
              <th scope="row">Steps since they parted</th>
              {[branches.base, branches.other].map((steps, at) => (
                <td key={at}>
                  {steps.length === 0 ? (
                    <span class="quiet">none</span>
                  ) : (
                    <ol>
                      {steps.map((text, index) => (
                        <li key={index}>{text}</li>
                      ))}
                    </ol>
                  )}
                </td>
              ))}
            </tr>
          )}
          {differences.map((each) => (
            <tr key={each.channel}>
              <th scope="row">{each.channel}</th>
              <td>
                <del>
                  <ValueText value={each.before} />
                </del>
              </td>
              <td>
                <ins>
                  <ValueText value={each.after} />
                </ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {differences.length === 0 ? <p class="quiet">No value differs.</p> : null}
    </div>
  );
}

/** More steps are counted only. */
const MOST_STEPS = 30;

/** What has run on both lines behind their last common checkpoint; `undefined` if it is not loaded. */
function branchesOf(
  base: string,
  other: string,
  known: KnownCheckpoints,
): { readonly base: readonly string[]; readonly other: readonly string[] } | undefined {
  const lineOf = (id: string): readonly JsonObject[] => {
    const line: JsonObject[] = [];
    let at: JsonObject | undefined = known.get(id);
    for (; at !== undefined; at = parentOf(at, known)) line.push(at);
    return line;
  };
  const [first, second] = [lineOf(base), lineOf(other)];
  const own = new Set(second.map(({ id }) => id));
  const common = first.find(({ id }) => own.has(id))?.["id"];
  if (common === undefined) return undefined;
  return { base: stepsBefore(first, common, known), other: stepsBefore(second, common, known) };
}

/** The steps of a line, newest first, up to a checkpoint: as text, oldest first. */
function stepsBefore(line: readonly JsonObject[], common: Json, known: KnownCheckpoints): readonly string[] {
  const steps = line.slice(
    0,
    line.findIndex(({ id }) => id === common),
  );
  const texts = steps.reverse().map((each) => stepText(each, known));
  if (texts.length <= MOST_STEPS) return texts;
  return [...texts.slice(0, MOST_STEPS), `and ${texts.length - MOST_STEPS} more`];
}
