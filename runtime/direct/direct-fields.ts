/** Results whose fields several channels store. */
import type { OutputField, Table } from "../table/table.ts";
import { COMMAND_VALUE } from "../step/command.ts";
import type { Json } from "../value/json.ts";
import { acceptType, type Accept, type Types } from "./accept.ts";

export interface DirectField {
  readonly name: string;
  readonly channel: number;
  readonly accept: Accept;
  readonly isOptional: boolean;
  readonly acceptsNull: boolean;
}

/** The code of such results, which the module of a graph without them leaves out. */
export interface FieldParts {
  compile(
    table: Table,
    fields: readonly OutputField[],
    updates: readonly Accept[],
    types: Types,
  ): readonly DirectField[];
  /** Adds the updates of a result. Returns `false` if the result does not fit. */
  read(fields: readonly DirectField[], value: unknown, channels: number[], updates: Json[]): boolean;
}

export const fields: FieldParts = {
  compile: ({ channels }, specs, updates, types) =>
    specs.map(({ field, channel, optional }) => ({
      name: field,
      channel,
      accept: updates[channel]!,
      isOptional: optional === true,
      acceptsNull: acceptType(channels[channel]!.type, types)(null) !== undefined,
    })),
  read(all, value, channels, updates) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value === COMMAND_VALUE) return false;
    for (const { name, channel, accept, isOptional, acceptsNull } of all) {
      let part: unknown;
      try {
        part = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
      } catch {
        return false;
      }
      if (part === undefined && isOptional) continue;
      const update = accept(part === undefined && acceptsNull ? null : part);
      if (update === undefined) return false;
      channels.push(channel);
      updates.push(update);
    }
    return true;
  },
};
