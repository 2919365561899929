/** Changes of a graph that keep a stored thread from resuming (NG610). */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";

const UNTIL = "until no thread needs it (`ngc threads` lists them)";

/** The graph was removed. */
export function graphGone(place: Place, facts: { graph: string; similar?: string | undefined }): Diagnostic {
  const { graph, similar } = facts;
  return diagnostic("NG610", place, `graph \`${graph}\` is gone: its threads cannot resume`, {
    label: "was declared in this file",
    help:
      similar === undefined
        ? `keep it ${UNTIL}`
        : `a graph with a similar name exists: \`${similar}\`; if it was renamed, resume with \`--graph ${similar}\`, or keep the name`,
  });
}

/** A node was removed: a checkpoint may name it as the next node. */
export function nodeGone(
  place: Place,
  facts: { node: string; declaredAt: string | undefined; similar?: string | undefined },
): Diagnostic {
  const { node, declaredAt, similar } = facts;
  return diagnostic("NG610", place, `node \`${node}\` is gone: a thread that is about to run it cannot resume`, {
    label: `had a node \`${node}\``,
    notes: declaredAt === undefined ? [] : [`it was declared at ${declaredAt}`],
    help:
      similar === undefined
        ? `keep the node ${UNTIL}`
        : `a node with a similar name exists: \`${similar}\`; a renamed node keeps its old name ${UNTIL}`,
  });
}

/** A channel was removed: checkpoints hold a value of it. */
export function channelGone(place: Place, facts: { channel: string; similar?: string | undefined }): Diagnostic {
  const { channel, similar } = facts;
  return diagnostic("NG610", place, `channel \`${channel}\` is gone: threads that hold a value of it cannot resume`, {
    label: `had a channel \`${channel}\``,
    help:
      similar === undefined
        ? `keep the channel ${UNTIL}`
        : `a channel with a similar name exists: \`${similar}\`; a renamed channel keeps its old name ${UNTIL}`,
  });
}

/** The new type of a channel does not accept every old value. */
export function channelTypeChanged(
  place: Place,
  facts: { channel: string; before: string; now: string; at: string },
): Diagnostic {
  const { channel, before, now, at } = facts;
  return diagnostic(
    "NG610",
    place,
    `channel \`${channel}\` was \`${before}\` and is \`${now}\`: threads that hold another value cannot resume`,
    {
      label: at === "" ? `takes no \`${before}\`` : `does not take every \`${before}\`: see \`${channel}${at}\``,
      help: `widen the type so that it accepts the old values too, or use another channel for the new ones`,
    },
  );
}

/** A barrier was removed: the signals that it holds would be lost. */
export function barrierGone(
  place: Place,
  facts: { barrier: string; target: string; members: readonly string[] },
): Diagnostic {
  const members = facts.members.map((name) => `\`${name}\``).join(", ");
  return diagnostic(
    "NG610",
    place,
    `the barrier of ${members} in front of \`${facts.target}\` is gone: a thread in which one of them has signalled cannot resume`,
    { label: `had the barrier \`${facts.barrier}\``, help: `keep \`all(…) -> ${facts.target}\` ${UNTIL}` },
  );
}

/** A member of a barrier was removed: its signal would be lost. */
export function barrierMemberGone(
  place: Place,
  facts: { barrier: string; target: string; member: string },
): Diagnostic {
  const { barrier, target, member } = facts;
  return diagnostic(
    "NG610",
    place,
    `\`${member}\` no longer belongs to the barrier in front of \`${target}\`: a thread in which it has signalled cannot resume`,
    {
      label: `belonged to the barrier \`${barrier}\``,
      help: `keep it a member ${UNTIL}; barriers of one target are distinguished by their order`,
    },
  );
}
