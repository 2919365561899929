/** Secrets of a graph that runs without the engine. */
import { createRedactor } from "../event/redact.ts";
import type { EngineOptions } from "../interface/engine-options.ts";
import { missingSecrets } from "../table/missing-secrets.ts";
import { readSecrets } from "../table/read-secrets.ts";
import type { Table } from "../table/table.ts";

export interface DirectSecrets {
  /** By name. */
  readonly values: ReadonlyMap<string, string>;
  /** Whether no secret that the graph reads is missing. If one is, the engine refuses the runs. */
  readonly isComplete: boolean;
  readonly redact: (text: string) => string;
  /** The options with these values, for the engine, which may be loaded later. */
  readonly options: EngineOptions;
}

/** The code of secrets, which the module of a graph without them leaves out. */
export interface SecretParts {
  /** @throws RunError NG_BAD_INPUT for a value that is no text */
  read(table: Table, options: EngineOptions): DirectSecrets | undefined;
}

export const secrets: SecretParts = {
  read(table, options) {
    const values = readSecrets(table, options);
    if (values === undefined) return undefined;
    let redactor: DirectSecrets["redact"] | undefined;
    return {
      values,
      isComplete: missingSecrets([table], (name) => values.has(name)).size === 0,
      redact: (text) => (redactor ??= createRedactor(values))(text),
      options: { ...options, secrets: Object.fromEntries(values) },
    };
  },
};
