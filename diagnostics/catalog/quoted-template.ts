import type { Place } from "../diagnostic.ts";
import type { SourceFile } from "../source.ts";

/** Names between `{` and `}` within double quotes, by file: a file may have thousands of names that no expression reads. */
const quotedNames = new WeakMap<SourceFile, ReadonlySet<string>>();

/** Help for a name that no expression reads, while a text between double quotes contains `${name}`. */
export function quotedTemplateHelp({ file }: Place, name: string): string | undefined {
  let names = quotedNames.get(file);
  if (names === undefined) {
    names = namesInQuotes(file.text);
    quotedNames.set(file, names);
  }
  return names.has(name)
    ? `text between double quotes is not a template: put it between backticks, \`\` \`…\${${name}}…\` \`\``
    : undefined;
}

function namesInQuotes(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [quoted] of text.matchAll(/"[^"\n]*"/g)) {
    if (!quoted.includes("}")) continue;
    for (const [, name = ""] of quoted.matchAll(/\{([A-Za-z_]\w*)/g)) names.add(name);
  }
  return names;
}
