import { equal } from "../../expression/equal.ts";
import type { CheckpointHeader } from "../../interface/checkpoint.ts";
import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import type { Json } from "../../value/json.ts";

/** Whether a thread has the properties that a listing asks for. */
export function isListed(
  info: ThreadInfo,
  { status, graph, label, metadata, due, expiredAt }: ThreadsOptions,
): boolean {
  if (status !== undefined && info.status !== status) return false;
  if (graph !== undefined && info.graph !== graph) return false;
  if (label !== undefined && info.label !== label) return false;
  if (due !== undefined && !mayContinue(info, due)) return false;
  if (expiredAt !== undefined && !(info.expires !== undefined && info.expires <= expiredAt)) return false;
  return Object.entries(metadata ?? {}).every(
    ([name, value]) => Object.hasOwn(info.metadata, name) && equal(info.metadata[name] as Json, value),
  );
}

/** The field `expires` of a thread whose head has these fields. */
export function expiryOf({ timestamp, ttl }: Pick<CheckpointHeader, "timestamp" | "ttl">): Pick<ThreadInfo, "expires"> {
  return ttl === undefined ? {} : { expires: timestamp + ttl };
}

function mayContinue({ status, due, signals = 0 }: ThreadInfo, now: number): boolean {
  return status === "paused" && ((due !== undefined && due <= now) || signals > 0);
}
