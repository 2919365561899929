import { findSimilar } from "../../diagnostics/similar.ts";
import { effectOfHost, GENERAL_EFFECTS, type Effect } from "../../runtime/table/effects.ts";
import { CommandError } from "../process/command-error.ts";

/** The effects in help texts. */
export const EFFECT_NAMES = `${GENERAL_EFFECTS.join(",")}, net:HOST for one host,`;

/**
 * Reads an effect: `shell`, `net:api.example.com`, `net:*.example.com`.
 *
 * @param where names the place of the text in messages
 */
export function parseEffect(where: string, text: string): Effect {
  const general = GENERAL_EFFECTS.find((effect) => effect === text);
  if (general !== undefined) return general;
  if (text.startsWith("net:")) {
    const effect = effectOfHost(text.slice(4));
    if (effect !== undefined) return effect;
    throw new CommandError(`${where}: \`${text}\` does not name a host`, {
      help: "write net:api.example.com, net:localhost:8080, or net:*.example.com for each name below a host",
    });
  }
  const similar = findSimilar(text, GENERAL_EFFECTS);
  throw new CommandError(`${where} takes ${GENERAL_EFFECTS.join(", ")} and net:HOST, not \`${text}\``, {
    help: similar === undefined ? undefined : `did you mean \`${similar}\`?`,
  });
}
