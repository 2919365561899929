import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { importModule } from "../start/import-module.ts";
import { isYaml } from "./source-files.ts";

/** The formatted text, or the diagnostics of a file that cannot be parsed. Prettier's own YAML printer formats YAML. */
export async function formatText(text: string, path: string): Promise<string | readonly Diagnostic[]> {
  if (isYaml(path)) return formatYaml(text, path);
  const { format, FormatError } = await import("../../grammar/format/format.ts");
  try {
    return await format(text, { path });
  } catch (error) {
    if (error instanceof FormatError) return error.diagnostics;
    throw error;
  }
}

/** The formatted text; `undefined` for a text that cannot be formatted. */
export async function formatIfReadable(text: string, path: string): Promise<string | undefined> {
  try {
    const formatted = await formatText(text, path);
    return typeof formatted === "string" ? formatted : undefined;
  } catch {
    // Prettier's YAML printer throws for a text that it cannot read.
    return undefined;
  }
}

async function formatYaml(text: string, path: string): Promise<string | readonly Diagnostic[]> {
  const { format } = (await importModule("prettier")) as typeof import("prettier");
  try {
    return await format(text, { parser: "yaml", printWidth: 120 });
  } catch (error) {
    const { parseYaml } = await import("../../grammar/yaml/parse-yaml.ts");
    const { diagnostics } = parseYaml(text, { path });
    if (diagnostics.length > 0) return diagnostics;
    throw new CommandError(
      `${path} cannot be formatted: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`,
      {
        exitCode: EXIT.invalid,
        cause: error,
      },
    );
  }
}
