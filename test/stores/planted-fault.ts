import { mutation, type Mutation } from "../support/mutate.ts";

/** A mistake that a store could make, as mutations of the text of `PlainStore`. */
export interface PlantedFault {
  readonly name: string;
  readonly edits: readonly Mutation[];
  /** Start of the name of the conformance case that finds the mistake. */
  readonly foundBy: string;
}

export const STORE_FILE = "plain-store.ts";
export const DISK_FILE = "plain-disk.ts";

/** A mutation of `PlainStore`; parameters as in `mutation`. */
export function inStore(point: string, change: string | Mutation["change"], part?: string): Mutation {
  return mutation(STORE_FILE, point, change, part);
}

/** A mutation of the disk of `PlainStore`; parameters as in `mutation`. */
export function inDisk(point: string, change: string | Mutation["change"], part?: string): Mutation {
  return mutation(DISK_FILE, point, change, part);
}

/** Path of fields from a declaration to its initial value. */
export const VALUE = "declarations.0.init";
