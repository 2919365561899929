import type { ExpectedType } from "../interface/context.ts";
import type { ChannelSpec, NodeSpec, Table } from "../table/table.ts";
import type { ValueType } from "../table/value-type.ts";

/**
 * The type of a node's result; `undefined` if the result is not stored.
 *
 * @param resultType the type of the result that a channel stores, of one item in a `for` node
 */
export function expectedType(
  { channels, types }: Table,
  { output, each }: NodeSpec,
  resultType: (channel: ChannelSpec, isItem: boolean, types: Table["types"]) => ValueType,
): ExpectedType | undefined {
  if (output === undefined) return undefined;
  const typeOf = ({ channel, set }: { readonly channel: number; readonly set?: true }): ValueType => {
    const { reducer, ...plain } = channels[channel]!;
    // A write with `set` sees the channel without its reducer.
    const spec = set === true || reducer === undefined ? plain : { ...plain, reducer };
    return resultType(spec, each !== undefined, types);
  };
  const type: ValueType =
    output.kind === "channel"
      ? typeOf(output)
      : {
          kind: "record",
          fields: output.fields.map((target) => ({
            name: target.field,
            type: typeOf(target),
            ...(target.optional === true ? { optional: true } : {}),
          })),
        };
  return { type, types };
}
