/** Why a value was not admitted: where in it, what was expected and what stood there. */
export class Mismatch {
  /** From the outside in: field names and list positions. Empty for the value itself. */
  readonly path: readonly (string | number)[];
  /** A type as the language writes it, or words: "plain JSON". */
  readonly expected: string;
  /** A short literal or kind: `"maybe"`, `a list`, `an instance of Date`. */
  readonly found: string;
  /** What to do, where that is not plain from the rest. */
  readonly advice: string | undefined;

  constructor(expected: string, found: string, advice?: string, path: readonly (string | number)[] = []) {
    this.path = path;
    this.expected = expected;
    this.found = found;
    this.advice = advice;
  }

  /** The same, seen from one level further out. */
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

/** `notes[2].title`; names that are no identifiers stand in brackets. The middle of a long path is left out. */
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
