/** The effects that a user allows: the flag `--allow`, and `allow` in the files `ngraph.json` above the graph and above the working directory. */
import { intersectEffects, type Effect } from "../../runtime/table/effects.ts";
import { projectSettings } from "./project-settings.ts";
/**
 * The effects that `--allow` and each `ngraph.json` allow together; `undefined` if none of them restricts effects. A file can only
 * restrict, so a directory that holds untrusted graphs cannot allow more than the directories above it.
 *
 * @param file the graph's file
 * @throws CommandError for a file that cannot be read
 */
export function allowedEffects(flag: readonly Effect[] | undefined, file: string): readonly Effect[] | undefined {
  let allow = flag;
  for (const { allow: own } of projectSettings(file)) {
    if (own !== undefined) allow = allow === undefined ? own : intersectEffects(allow, own);
  }
  return allow;
}
