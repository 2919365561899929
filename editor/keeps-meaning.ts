/** Whether a rename keeps what a project means: the changed texts are read and checked before the editor gets the edits. */
import { compile } from "../compiler/compile.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import { realPathOf } from "../compiler/load/project-root.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { applyEdits } from "../diagnostics/fixes/apply-edits.ts";
import { NameIndex, type FileNames } from "./name-index.ts";
import { NOUNS, placeOf } from "./name-nouns.ts";
import type { NameUse } from "./names.ts";
import type { Edits } from "./rename-export.ts";

/** Why a rename is refused: a name of a changed graph file means another thing after it, or the file has an error that it did not have. */
export function whyRefused(edits: Edits, newName: string, host: CompilerHost): string | undefined {
  const changed = withEdits(edits, host);
  const index = new NameIndex(changed, new Map());
  for (const file of edits.keys()) {
    if (!isGraph(file)) continue;
    const after = index.of(file.path, file.file.spelling);
    const reason = (after && otherMeaning(file, after, newName)) ?? newError(file, newName, host, changed);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function isGraph(file: { readonly path: string }): file is FileNames {
  return "uses" in file;
}

/** The files as they are after the edits. */
function withEdits(edits: Edits, host: CompilerHost): CompilerHost {
  const texts = new Map<string, string>();
  for (const [{ path, source }, list] of edits) texts.set(realPathOf(path, host), applyEdits(source.text, list));
  return { ...host, readFile: (path) => texts.get(realPathOf(path, host)) ?? host.readFile(path) };
}

/** Places that meant one thing still do, and those of different things still mean different ones. */
function otherMeaning(before: FileNames, after: FileNames, newName: string): string | undefined {
  const [old, now] = [inOrder(before.uses), inOrder(after.uses)];
  const reasonAt = (use: NameUse | undefined): string =>
    use === undefined
      ? `with the name \`${newName}\`, a name of ${after.path} would have no meaning`
      : `\`${use.name}\` would mean ${NOUNS[use.kind]} of that name at ${placeOf(after, use.span)}: choose another name`;
  const [meanings, sources] = [new Map<string, string>(), new Map<string, string>()];
  const keeps = (was: NameUse, is: NameUse): boolean => {
    if (was.kind !== is.kind || isDeclaration(was) !== isDeclaration(is)) return false;
    if (!meanings.has(was.target) && !sources.has(is.target)) {
      meanings.set(was.target, is.target);
      sources.set(is.target, was.target);
    }
    return meanings.get(was.target) === is.target && sources.get(is.target) === was.target;
  };
  // Declarations first: a use that means another one is the place to name.
  for (const part of [isDeclaration, () => true]) {
    for (const [at, was] of old.entries()) {
      const is = now[at];
      if (is === undefined || (part(was) && !keeps(was, is))) return reasonAt(is);
    }
  }
  return now.length > old.length ? reasonAt(now[old.length]) : undefined;
}

function isDeclaration({ role }: NameUse): boolean {
  return role === "declaration" || role === "import";
}

/**
 * In the order of the text, in all forms of a name. The two names of `{ reply }` have one place, and in the long form the field is the first.
 * Of `f as draft` the second counts.
 */
function inOrder(uses: readonly NameUse[]): readonly NameUse[] {
  const isSecond = ({ short }: NameUse): number => Number(short === "value");
  const counted = uses.filter(({ role, pair }) => role !== "import" || pair === undefined);
  return counted.sort((a, b) => a.span.start - b.span.start || isSecond(a) - isSecond(b));
}

/** An error of a changed file that the file did not have before. */
function newError(file: FileNames, newName: string, host: CompilerHost, changed: CompilerHost): string | undefined {
  const errorsWith = (each: CompilerHost): readonly Diagnostic[] => {
    const { path, source } = file;
    const options = { path, spelling: file.file.spelling, host: each };
    const { diagnostics } = compile(each.readFile(path) ?? source.text, options);
    return diagnostics.filter(({ severity }) => severity === "error");
  };
  const after = errorsWith(changed);
  if (after.length === 0) return undefined;
  const known = new Map<string, number>();
  for (const { code } of errorsWith(host)) known.set(code, (known.get(code) ?? 0) + 1);
  for (const { code } of after) known.set(code, (known.get(code) ?? 0) - 1);
  const isNew = ({ code }: Diagnostic): boolean => (known.get(code) ?? 0) < 0;
  const mentions = ({ message }: Diagnostic): boolean => message.includes(`\`${newName}\``);
  const found = after.find((each) => isNew(each) && mentions(each)) ?? after.find(isNew);
  if (found === undefined) return undefined;
  const place = placeOf({ path: found.file.path, source: found.file }, found.span);
  return `with the name \`${newName}\`, ${place} has an error: ${found.message} (${found.code})`;
}
