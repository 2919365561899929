/**
 * Makes a graph smaller while a mistake stays: deletes statements, then parts of statements. The text has one statement a line, as
 * `generate.ts` writes it.
 */
export async function shrink(text: string, stillFails: (text: string) => Promise<boolean>): Promise<string> {
  let best = text;
  let budget = MOST_TRIES;
  const attempt = async (candidate: string): Promise<boolean> => {
    if (candidate === best || budget-- <= 0 || !(await stillFails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before = ""; before !== best && budget > 0;) {
    before = best;
    for (const name of names(best).reverse()) await attempt(withoutNode(best, name));
    for (const name of names(best).reverse()) await attempt(bypassing(best, name));
    for (let at = best.split("\n").length - 1; at > 0; at--) {
      const lines = best.split("\n");
      await attempt(lines.toSpliced(at, 1).join("\n"));
    }
    for (let at = best.split("\n").length - 1; at > 0; at--) {
      for (const simpler of SIMPLER) {
        const lines = best.split("\n");
        const line = lines[at];
        if (line !== undefined) await attempt(lines.toSpliced(at, 1, line.replace(simpler[0], simpler[1])).join("\n"));
      }
    }
  }
  return best;
}

const MOST_TRIES = 600;

/** Parts of a statement that may go. */
const SIMPLER: readonly (readonly [RegExp, string])[] = [
  [/ \{ [^}]*\}$/, ""],
  [/ \{ (.*)  \S[^}]*\}$/, " { $1 }"],
  [/ for item in [^}]*?(?= into| \{ |$)/, ""],
  [/ into (\w+|\{[^}]*\})/, ""],
  [/^( *node (\w+) = ).*$/, '$1act("$2")'],
  [/^( *node (\w+) = ).*( into \w+)( \{.*)?$/, '$1act("$2")$3$4'],
  [/, \w+/, ""],
  [/\w+, /, ""],
  [/-> (\w+) -> /, "-> "],
  [/^( *)\w+ -> (\w+ -> )/, "$1$2"],
  [/ -> \w+$/, ""],
  [/ (when .*|otherwise)$/, ""],
  [/ on error.*$/, " on error"],
  [/-> match .*-> (\w+) *\}$/, "-> $1"],
];

function names(text: string): string[] {
  return [...text.matchAll(/^ *node (n\d+) =/gm)].map(([, name = ""]) => name);
}

function withoutNode(text: string, name: string): string {
  const mention = new RegExp(`\\b${name}\\b`);
  return text
    .split("\n")
    .filter((line) => !mention.test(line))
    .join("\n");
}

/** Edges to a node lead to where its own edge leads. */
function bypassing(text: string, name: string): string {
  const next = new RegExp(`^ *${name} -> (\\w+)( -> .*)?$`, "m").exec(text);
  if (next === null) return text;
  const mention = new RegExp(`\\b${name}\\b`, "g");
  return text
    .split("\n")
    .filter((line) => line !== next[0] && !new RegExp(`^ *node ${name} =|assert .*\\b${name}\\b`).test(line))
    .map((line) => line.replace(mention, next[1] ?? "end"))
    .join("\n");
}
