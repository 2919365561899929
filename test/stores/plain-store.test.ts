import { describe, it } from "vitest";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { newDisk } from "./plain-disk.ts";
import { PlainStore } from "./plain-store.ts";

describeStore({ describe, it }, "PlainStore", () => {
  const disk = newDisk();
  const store = new PlainStore(disk);
  const reopen = (): PlainStore => {
    store.close();
    return new PlainStore(disk);
  };
  return { store, reopen, secondProcess: () => new PlainStore(disk) };
});
