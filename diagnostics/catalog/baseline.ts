/** Changes of a graph that keep a stored thread from resuming (NG610). */
import { diagnostic, type Diagnostic, type Fix, type Place } from "../diagnostic.ts";

/** How a migration of all threads names a channel. */
export interface MigrationOf {
  /** `ngc migrate --all --file support.ngraph` */
  readonly command: string;
  /** The channel, with the name of a called graph in front. */
  readonly part: string;
}

const UNTIL = "until no thread needs it (`ngc threads` lists them)";

/** The graph was removed. */
export function graphGone(
  place: Place,
  facts: { graph: string; similar?: string | undefined; fix?: Fix | undefined },
): Diagnostic {
  const { graph, similar } = facts;
  return diagnostic("NG610", place, `graph \`${graph}\` is gone: its threads cannot resume`, {
    label: "was declared in this file",
    help:
      similar === undefined
        ? `keep it ${UNTIL}`
        : `if \`${similar}\` is its new name, write \`graph ${similar} was ${graph}\`; else keep it ${UNTIL}`,
    fixes: facts.fix === undefined ? [] : [facts.fix],
  });
}

/** A node was removed: a checkpoint may name it as the next node. */
export function nodeGone(
  place: Place,
  facts: { node: string; declaredAt: string | undefined; similar?: string | undefined; fix?: Fix | undefined },
): Diagnostic {
  const { node, declaredAt, similar } = facts;
  return diagnostic("NG610", place, `node \`${node}\` is gone: a thread that is about to run it cannot resume`, {
    label: `had a node \`${node}\``,
    notes: declaredAt === undefined ? [] : [`it was declared at ${declaredAt}`],
    help:
      similar === undefined
        ? `if it was renamed, add \`{ was ${node} }\` to the node; else keep it ${UNTIL}`
        : `if \`${similar}\` is its new name, add \`{ was ${node} }\` to it; else keep \`${node}\` ${UNTIL}`,
    fixes: facts.fix === undefined ? [] : [facts.fix],
  });
}

/** A channel was removed: checkpoints hold a value of it. */
export function channelGone(
  place: Place,
  facts: { channel: string; similar?: string | undefined; fix?: Fix | undefined },
): Diagnostic {
  const { channel, similar } = facts;
  return diagnostic("NG610", place, `channel \`${channel}\` is gone: threads that hold a value of it cannot resume`, {
    label: `had a channel \`${channel}\``,
    help:
      similar === undefined
        ? `write \`drop ${channel}\` to drop its values, or \`was ${channel}\` after the channel that replaces it`
        : `if \`${similar}\` is its new name, write \`was ${channel}\` after its declaration; \`drop ${channel}\` drops its values`,
    fixes: facts.fix === undefined ? [] : [facts.fix],
  });
}

/** The new type of a channel does not accept every old value. */
export function channelTypeChanged(
  place: Place,
  facts: { channel: string; before: string; now: string; at: string; migrate: MigrationOf },
): Diagnostic {
  const { channel, before, now, at, migrate } = facts;
  return diagnostic(
    "NG610",
    place,
    `channel \`${channel}\` was \`${before}\` and is \`${now}\`: threads that hold another value cannot resume`,
    {
      label: at === "" ? `takes no \`${before}\`` : `does not take every \`${before}\`: see \`${channel}${at}\``,
      help: `widen the type so that it accepts the old values too, or convert these with an expression over \`value\`: \`${migrate.command} --map ${migrate.part}=EXPRESSION\``,
    },
  );
}

/** The reducer of a channel changed: stored results would be combined in another way. */
export function reducerChanged(
  place: Place,
  facts: { channel: string; before: string | undefined; now: string | undefined; migrate: MigrationOf },
): Diagnostic {
  const { channel, before, now, migrate } = facts;
  return diagnostic(
    "NG610",
    place,
    `the reducer of channel \`${channel}\` was ${before ?? "none"} and is ${now ?? "none"}: threads that wait cannot resume`,
    {
      label: "combines its values in another way",
      help: `keep the reducer, or migrate the threads: \`${migrate.command} --keep ${migrate.part}\` keeps their values`,
    },
  );
}

/** A new channel has no value in threads that exist. */
export function channelNew(place: Place, facts: { channel: string; role: string; migrate: MigrationOf }): Diagnostic {
  const { channel, role, migrate } = facts;
  return diagnostic("NG610", place, `${role} \`${channel}\` is new: threads that exist have no value of it`, {
    label: "has no default that its type allows",
    help: `give it a default, or migrate the threads: \`${migrate.command} --set ${migrate.part}=JSON\``,
  });
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
