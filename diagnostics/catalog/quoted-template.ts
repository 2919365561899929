import type { Place } from "../diagnostic.ts";

/** Help for a name that no expression reads, while a text between double quotes contains `${name}`. */
export function quotedTemplateHelp({ file }: Place, name: string): string | undefined {
  const quoted = new RegExp(`"[^"\\n]*\\{${name}\\b[^"\\n]*\\}[^"\\n]*"`);
  return quoted.test(file.text)
    ? `text between double quotes is not a template: put it between backticks, \`\` \`…\${${name}}…\` \`\``
    : undefined;
}
