/**
 * The screen of a terminal after it received a text: a model that supports rows that are rewritten in place. Wide
 * characters take two cells.
 */
export class Screen {
  readonly #columns: number;
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  get text(): string {
    return this.#lines.map((line) => line.join("").trimEnd()).join("\n");
  }

  write(text: string): void {
    // oxlint-disable-next-line no-control-regex -- control sequences begin with it
    for (const [part] of text.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[^]/gu)) {
      if (part.startsWith("\u001b[")) this.#obey(part);
      else if (part === "\n") this.#goTo(this.#row + 1, 0);
      else if (part === "\r") this.#column = 0;
      else this.#put(part);
    }
  }

  #put(character: string): void {
    const cells = /\p{Script=Han}/u.test(character) ? 2 : 1;
    if (this.#column + cells > this.#columns) this.#goTo(this.#row + 1, 0);
    const line = this.#lines[this.#row] ?? [];
    while (line.length < this.#column) line.push(" ");
    line.splice(this.#column, cells, character, ...(cells === 2 ? [""] : []));
    this.#column += cells;
  }

  #obey(sequence: string): void {
    const count = Number(/\d+/.exec(sequence)?.[0] ?? 1);
    if (sequence.endsWith("A")) this.#row = Math.max(0, this.#row - count);
    else if (sequence.endsWith("J")) {
      this.#lines.length = this.#row + 1;
      this.#lines[this.#row]?.splice(this.#column);
    } else if (!sequence.endsWith("m")) throw new Error(`not known to this terminal: ${JSON.stringify(sequence)}`);
  }

  #goTo(row: number, column: number): void {
    this.#row = row;
    this.#column = column;
    while (this.#lines.length <= row) this.#lines.push([]);
  }
}
