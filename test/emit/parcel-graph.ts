/** Graphs that receive signals, and a program that sends them. */
export const PARCEL = `
graph inner { output code: string  node scan = receive("picked_up") into code  start -> scan -> end }
graph parcel {
  input  id: string
  output weight: float
  output code: string
  output seen: ("yes" | "no")[] = [] reduce append
  node picked = receive("picked_up") into weight
  node go     = receive("go")
  node both   = receive("seen") for i in [1, 2] into seen
  node inner  = inner() into { code }
  start -> picked -> go -> both -> inner -> end
}
graph open {
  input  id: string
  output weight: float
  output code: string
  node picked = receive("picked_up") into weight
  node scan   = receive(\`scan \${id}\`) into code
  start -> picked -> scan -> end
}
graph deaf { input id: string  output code: string  node set = id into code  start -> set -> end }`;

export const USE_OF_PARCEL = (extension: string): string => `
import { deaf, open, parcel, type ParcelSignals } from "./parcel.ngraph.${extension}";
import type { Engine } from "ngraph/runtime";

const engine = parcel();
export const receipts = [
  await engine.signal("t", "picked_up", 2.5),
  // A called graph receives it as a text.
  await engine.signal("t", "picked_up", "A-1", { id: "event-7" }),
  await engine.signal("t", "seen", "yes"),
  await engine.signal("t", "go"),
  await engine.signal("t", "go", { any: [1] }),
  // @ts-expect-error neither node takes a boolean
  await engine.signal("t", "picked_up", true),
  // @ts-expect-error the value is missing
  await engine.signal("t", "picked_up"),
  // @ts-expect-error each item receives one value
  await engine.signal("t", "seen", ["yes"]),
  // @ts-expect-error no node receives it
  await engine.signal("t", "picked-up", 2.5),
  // @ts-expect-error the options have another name
  await engine.signal("t", "go", null, { key: "event-7" }),
  await open().signal("t", "picked_up", 2.5),
  await open().signal("t", "scan 7", { any: [1] }),
  // @ts-expect-error a node receives it as a number
  await open().signal("t", "picked_up", "2.5"),
  // @ts-expect-error not JSON
  await open().signal("t", "scan 7", new Map()),
  // @ts-expect-error no node receives signals
  await deaf().signal("t", "go"),
];
export const values: ParcelSignals["picked_up"][] = [2.5, "A-1"];
export const plain: Pick<Engine, "signal"> = engine;
`;
