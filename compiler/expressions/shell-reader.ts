/**
 * Reads the literal text of a command to find out how a value at its end must be quoted, after POSIX 2.2 (Quoting) and 2.3
 * (Token Recognition). It follows quotes, command substitutions, comments, expansions and here-documents.
 *
 * Where shells read a text differently, or where the end of a construct cannot be found without a full parser, a value is
 * refused instead of quoted in the wrong way.
 */

/** Why no value can be quoted at a place. */
export type Unquotable =
  | "after a backslash"
  | "after a `$`"
  | "in a comment"
  | "in backticks"
  | "in `${…}`"
  | "in arithmetic"
  | "in `$'…'`"
  | "in a here-document"
  | "after text whose quotes depend on the shell";

type Frame =
  /** Commands: the whole text, `(…)` and `$(…)`. */
  "commands" | "single" | "double";

export interface ShellPlace {
  /** `plain` is outside of quotes. */
  readonly quotes: "plain" | "single" | "double";
  /** Whether a word begins here. */
  readonly beginsWord: boolean;
}

export class ShellReader {
  readonly #frames: Frame[] = ["commands"];
  /** A construct in which no value can be quoted and that has not ended. */
  #open: Unquotable | undefined;
  /** A here-document begins after the next line break. */
  #awaitsHereDocument = false;
  #beginsWord = true;
  /** The last characters before the end, without those of a finished construct. */
  #last = "";

  /** The place at the end of the text so far; a text if no value can be quoted there. */
  place(): ShellPlace | Unquotable {
    if (this.#open !== undefined) return this.#open;
    const frame = this.#frames.at(-1);
    if (frame === "single") return { quotes: "single", beginsWord: false };
    if (this.#last === "\\") return "after a backslash";
    if (this.#last === "$") return "after a `$`";
    if (frame === "commands" && this.#last === "<<") return "in a here-document";
    return frame === "double"
      ? { quotes: "double", beginsWord: false }
      : { quotes: "plain", beginsWord: this.#beginsWord };
  }

  /** A quoted value: it changes no quotes, and it is not empty outside of quotes. */
  readValue(): void {
    this.#beginsWord = false;
    this.#last = "";
  }

  /** An inserted command, which is assumed to close what it opens. It may be empty or end with a blank. */
  readRaw(): void {
    this.#beginsWord = true;
    this.#last = "";
  }

  read(text: string): void {
    let at = 0;
    while (at < text.length && (this.#open === undefined || this.#open === "in a comment")) {
      at = this.#step(text, at);
    }
  }

  /** Reads the construct at a position; returns the position after it. */
  #step(text: string, at: number): number {
    const char = text[at] ?? "";
    if (this.#open === "in a comment") {
      if (char !== "\n") return at + 1;
      this.#open = undefined;
    }
    if (char === "\n" && this.#awaitsHereDocument) return this.#refuse("in a here-document", text);
    const frame = this.#frames.at(-1);
    if (frame === "single") {
      if (char === "'") this.#frames.pop();
      return this.#after(char, at + 1);
    }
    if (char === "\\") {
      if (at + 1 === text.length) return this.#after("\\", at + 1);
      // A line that continues a line continues its word.
      if (text[at + 1] !== "\n") this.#beginsWord = false;
      return this.#after("", at + 2);
    }
    if (char === "`") return this.#skipBackticks(text, at);
    if (char === "$") return this.#readDollar(text, at);
    if (char === '"') {
      if (frame === "double") this.#frames.pop();
      else this.#frames.push("double");
      this.#beginsWord = false;
      return this.#after(char, at + 1);
    }
    return frame === "double" ? this.#after(char, at + 1) : this.#readCommands(text, at, char);
  }

  #readCommands(text: string, at: number, char: string): number {
    const begins = this.#beginsWord;
    this.#beginsWord = /[\s;&|()<>]/.test(char);
    switch (char) {
      case "'":
        this.#frames.push("single");
        return this.#after("", at + 1);
      case "#":
        if (begins) this.#open = "in a comment";
        return this.#after(char, at + 1);
      case "(":
        if (text[at + 1] === "(") return this.#skipArithmetic(text, at);
        this.#frames.push("commands");
        return this.#after(char, at + 1);
      case ")":
        // The pattern of a `case` may end with a `)` of its own.
        if (this.#frames.length > 1) this.#frames.pop();
        this.#beginsWord = this.#frames.at(-1) === "commands";
        return this.#after(char, at + 1);
      case "<":
        if (text.startsWith("<<<", at)) return this.#after("", at + 3);
        if (text.startsWith("<<", at)) {
          this.#awaitsHereDocument = true;
          this.#last = "<<";
          return at + (text[at + 2] === "-" ? 3 : 2);
        }
        return this.#after(char, at + 1);
      case "c":
        // The `)` after a pattern would be mistaken for the end of `$(…)`, and with it the quotes around.
        if (begins && this.#frames.includes("double") && /^case\b/.test(text.slice(at)))
          return this.#refuse("after text whose quotes depend on the shell", text);
        return this.#after(char, at + 1);
      default:
        // A delimiter may follow `<<` after blanks.
        return this.#last === "<<" && /[ \t]/.test(char) ? at + 1 : this.#after(char, at + 1);
    }
  }

  #readDollar(text: string, at: number): number {
    this.#beginsWord = false;
    const next = text[at + 1];
    if (next === undefined) return this.#after("$", at + 1);
    if (next === "$") {
      // Bash takes the second `$` of `"$$(…)"` as the beginning of `$(…)`, other shells as the end of `$$`.
      if (/[$({['"`]/.test(text[at + 2] ?? "")) {
        return this.#refuse("after text whose quotes depend on the shell", text);
      }
      return this.#after("$", at + 2);
    }
    if (text.startsWith("((", at + 1)) return this.#skipArithmetic(text, at + 1);
    if (next === "[") return this.#refuse("in arithmetic", text);
    if (next === "(") {
      this.#frames.push("commands");
      this.#beginsWord = true;
      return this.#after("(", at + 2);
    }
    if (next === "{") return this.#skip(text, at, /\$\{[^'"`\\{}$\n]*\}/y, "in `${…}`");
    // Bash reads escapes in `$'…'`, other shells a `$` and a text in single quotes. Without escapes, both end at the same `'`.
    if (next === "'" && this.#frames.at(-1) === "commands") return this.#skip(text, at, /\$'[^'\\]*'/y, "in `$'…'`");
    return this.#after("", at + 1);
  }

  #skipArithmetic(text: string, at: number): number {
    let depth = 0;
    for (let end = at; end < text.length; end++) {
      const char = text[end] ?? "";
      if (char === "(") depth++;
      else if (char === ")" && --depth === 0) return this.#after(char, end + 1);
      else if (/['"`\\]/.test(char)) break;
    }
    return this.#refuse("in arithmetic", text);
  }

  #skipBackticks(text: string, at: number): number {
    return this.#skip(text, at, /`(?:[^`\\]|\\[^])*`/y, "in backticks");
  }

  /** Skips a construct without values; the rest of the command is refused if its end is not in this text. */
  #skip(text: string, at: number, construct: RegExp, name: Unquotable): number {
    this.#beginsWord = false;
    construct.lastIndex = at;
    const found = construct.exec(text);
    return found === null ? this.#refuse(name, text) : this.#after("", at + found[0].length);
  }

  #refuse(name: Unquotable, text: string): number {
    this.#open = name;
    return text.length;
  }

  #after(last: string, at: number): number {
    this.#last = last;
    return at;
  }
}
