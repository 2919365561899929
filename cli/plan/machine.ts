import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { thisProcess } from "../../runtime/stores/contract/holder-process.ts";

/** The machine of a run, as its records name it. */
export interface RecordedMachine {
  /** The name of the machine, for people. */
  readonly host: string;
  /** Identifies the machine beyond a restart; empty where it is not available. */
  readonly machine: string;
  /** Its name, boot and process namespace: `host` of `HolderProcess`. */
  readonly processes: string;
}

let own: RecordedMachine | undefined;

export function thisMachine(): RecordedMachine {
  return (own ??= { host: hostname(), machine: machineId(), processes: thisProcess().host });
}

/** Whether the machine of a record has been restarted since, which ends all its processes. */
export function hasRestarted({ host, machine, processes }: RecordedMachine): boolean {
  const here = thisMachine();
  const [, ownBoot = ""] = here.processes.split(" ");
  const [, otherBoot = ""] = processes.split(" ");
  return host === here.host && machine !== "" && machine === here.machine && otherBoot !== "" && otherBoot !== ownBoot;
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}
