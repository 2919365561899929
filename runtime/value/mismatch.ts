/** Why a value was not admitted: the place in it, the expected type and the actual value. */
export class Mismatch {
  /** Path from the value inwards: field names and list positions. Empty for the value itself. */
  readonly path: readonly (string | number)[];
  /** A type as the language writes it, or a phrase: "plain JSON". */
  readonly expected: string;
  /** A short literal or kind: `"maybe"`, `a list`, `an instance of Date`. */
  readonly found: string;
  /** The remedy, if the rest of the message does not show it. */
  readonly advice: string | undefined;

  constructor(expected: string, found: string, advice?: string, path: readonly (string | number)[] = []) {
    this.path = path;
    this.expected = expected;
    this.found = found;
    this.advice = advice;
  }

  /** The mismatch of the surrounding value. */
  under(step: string | number): Mismatch {
    return new Mismatch(this.expected, this.found, this.advice, [step, ...this.path]);
  }

  /** "expected string at `notes[2].title`, found a number" */
  describe(): string {
    const place = this.path.length === 0 ? "" : ` at \`${printPath(this.path)}\``;
    const advice = this.advice === undefined ? "" : ` (${this.advice})`;
    return `expected ${this.expected}${place}, found ${this.found}${advice}`;
  }
}

/** `notes[2].title`. Names that are not identifiers are in brackets. The middle of a long path is omitted. */
export function printPath(path: readonly (string | number)[]): string {
  if (path.length > 12) return `${printPath(path.slice(0, 6))} … ${printPath(path.slice(-3))}`;
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_]\w*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
