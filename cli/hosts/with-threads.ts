import type { Command } from "commander";
import { isOver } from "../../runtime/checkpoint/is-over.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { MaybePromise } from "../../runtime/value/json.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { withoutPassword } from "../output/mask-password.ts";
import { CommandError } from "../process/command-error.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { UnknownThread } from "../threads/thread-source.ts";
import { STORE_FLAG, STORE_HELP, withStore, type OpenStore, type StoreUse } from "../threads/open-store.ts";
import { ADMIN_FLAG, HOST_FLAG, HOST_HELP, hostFlag, openHost } from "./open-host.ts";

/** Where a command finds threads: in a store, or at a host, which keeps them by graph. */
export interface ThreadsPlace {
  readonly store?: string;
  readonly host?: string;
  readonly graph?: string;
  readonly admin?: string;
}

/** Adds `--store`, `--host` and, where the command has none of its own, `--graph`. */
export function addPlaceOptions(command: Command): void {
  command.option(STORE_FLAG, STORE_HELP).option(HOST_FLAG, `${HOST_HELP}; with --graph`);
  if (!command.options.some(({ long }) => long === "--graph"))
    command.option("--graph <name>", "with --host: the graph of the thread, since a host keeps threads by graph");
}

/** As `addPlaceOptions`, for a command that lists threads. */
export function addListedPlaceOptions(command: Command): void {
  addPlaceOptions(command);
  command.option(ADMIN_FLAG, "with --host: the administration of Restate, which lists threads (default: port 9070)");
}

/** Opens the store or the host that the flags name, runs `work`, and closes it in any case. */
export async function withThreads<T>(
  place: ThreadsPlace,
  use: StoreUse,
  work: (open: OpenStore) => MaybePromise<T>,
): Promise<T> {
  const { host } = place;
  if (host === undefined && place.admin !== undefined) throw new CommandError("--admin belongs to --host");
  if (host === undefined) return withStore(place.store, use, work);
  const { name, opened } = await hostOf({ ...place, host });
  const flag = `${hostFlag(host)} --graph ${quoteArgument(name)}`;
  return atHost({ host, graph: name }, () => work({ store: opened.store(name), flag, isMemory: false }));
}

/** Runs `work`, whose threads are those of a graph at a host. @throws CommandError that names the host for an unknown thread */
export async function atHost<T>(
  { host, graph }: { readonly host: string; readonly graph: string },
  work: () => MaybePromise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownThread)) throw error;
    const place = {
      name: `graph \`${printable(graph)}\` at ${printable(withoutPassword(host))}`,
      help: `\`ngc threads${hostFlag(host)} --graph ${quoteArgument(graph)}\` lists its threads: a host keeps them by graph`,
    };
    throw new UnknownThread(error.thread, error.similar, place);
  }
}

/** The host that `--host` names, and the graph whose threads are meant. @throws CommandError */
export async function hostOf({ store, host, graph, admin }: ThreadsPlace & { readonly host: string }) {
  if (store !== undefined) {
    throw new CommandError("--store has no effect with --host", { help: "the host stores the runs" });
  }
  if (graph === undefined || graph === "") {
    throw new CommandError("--host needs --graph", { help: "name the graph: a host keeps threads by graph" });
  }
  return { name: graph, opened: await openHost(host, { admin }) };
}

/** The flags with which a later `ngc resume` finds a thread. */
export function resumeFlags({ host }: ThreadsPlace, flag: string, file: string): string {
  return host === undefined ? flag : `${hostFlag(host)} --file ${quoteArgument(file)}`;
}

/** What to do with a thread that a command has written. `otherwise` is the way to continue a run that is over. */
export async function resumeNote(engine: Engine, thread: string, flags: string, otherwise: string): Promise<string> {
  const head = await engine.state(thread);
  if (head !== undefined && isOver(head)) return `the run is over, so there is nothing to resume; ${otherwise}`;
  return `resume with: ngc resume ${quoteArgument(thread)}${flags}`;
}
