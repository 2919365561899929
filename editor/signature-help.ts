import type { SignatureHelp } from "vscode-languageserver-protocol";
import { librarySignatures } from "../compiler/expressions/library-signatures.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import type { CheckedDocument } from "./document.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import { boundUnit, signatureText } from "./hover.ts";

/** Maximum number of characters before the place that are searched for the call around it. */
const WINDOW = 5000;

/** The parameters of the call around an offset, and which one is being written. */
export function findSignature(
  { document, result }: CheckedDocument,
  file: FileNames,
  offset: number,
  index: NameIndex,
): SignatureHelp | null {
  const call = callAround(document.text.slice(Math.max(0, offset - WINDOW), offset));
  if (call === undefined) return null;
  const found = (label: string, parameters: readonly string[], about?: string): SignatureHelp => {
    const named = call.name === undefined ? -1 : parameters.findIndex((each) => /^\w+/.exec(each)?.[0] === call.name);
    return {
      signatures: [
        {
          label,
          parameters: parameters.map((each) => ({ label: each })),
          ...(about === undefined ? {} : { documentation: about }),
        },
      ],
      activeSignature: 0,
      activeParameter: named === -1 ? Math.min(call.position, Math.max(0, parameters.length - 1)) : named,
    };
  };
  const target = file.uses.find(
    ({ name, kind }) => name === call.callee && (kind === "graph" || kind === "plan"),
  )?.target;
  const own = target === undefined ? undefined : boundUnit(target, file, result, index);
  if (own !== undefined) {
    const inputs = own.channels.filter(({ role }) => role === "input");
    const parameters = inputs.map(
      ({ name, type, initial }) => `${name}${initial === undefined ? "" : "?"}: ${typeToText(type)}`,
    );
    return found(`${call.callee}(${parameters.join(", ")})`, parameters, own.doc);
  }
  const imported = file.uses.find(({ name, kind }) => name === call.callee && kind === "function");
  const exported = imported === undefined ? undefined : index.exportOf(imported.target);
  if (exported !== undefined) {
    const inner = /\(([^]*)\)/.exec(exported.text)?.[1] ?? "";
    const parameters = inner.split(/,(?![^<{(]*[>})])/).flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
    return found(
      exported.text,
      parameters.filter((part) => exported.text.includes(part)),
    );
  }
  const signature = nodeSignatures.get(call.callee);
  if (signature !== undefined) {
    const shown = signature.parameters.map(
      (each) => `${each.name}${each.optional === true ? "?" : ""}: ${typeToText(each.type)}`,
    );
    return found(signatureText(signature), shown, signature.summary);
  }
  const usage = librarySignatures.get(call.callee)?.usage;
  if (usage === undefined) return null;
  const parameters = (/\((.*)\)/.exec(usage)?.[1] ?? "").split(", ").filter((part) => part !== "");
  return found(usage, parameters);
}

interface OpenCall {
  readonly callee: string;
  readonly position: number;
  /** `cwd` in `shell("x", cwd: …`. */
  readonly name: string | undefined;
}

/** The innermost call that is open at the end of a text. */
function callAround(text: string): OpenCall | undefined {
  const last = openBrackets(text).at(-1);
  if (last === undefined || last.callee === "") return undefined;
  const name = /^\s*([A-Za-z_]\w*)\s*:/.exec(text.slice(last.from))?.[1];
  return { callee: last.callee, position: last.commas, name };
}

/** A bracket that is open at the end of a text. */
export interface OpenBracket {
  /** The name before a parenthesis; otherwise empty. */
  readonly callee: string;
  /** Its offset, and that of the item which is being written. */
  readonly at: number;
  from: number;
  commas: number;
}

/** The brackets that are open at the end of a text, the outermost first. Strings are skipped. */
export function openBrackets(text: string): readonly OpenBracket[] {
  const open: OpenBracket[] = [];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\\n]|\\.)*"|([A-Za-z_]\w*)\s*\(|[()[\]{},]/g)) {
    if (token.startsWith('"')) continue;
    const at = index + token.length;
    if (/[([{]$/.test(token)) open.push({ callee: token.slice(0, -1).trim(), at, from: at, commas: 0 });
    else if (/^[)\]}]$/.test(token)) open.pop();
    else {
      const last = open.at(-1);
      if (last === undefined) continue;
      last.commas++;
      last.from = at;
    }
  }
  return open;
}
