import { createEngine } from "../../runtime/engine.ts";
import { randomFaults, simulate } from "./simulate.ts";
import { memoryStore } from "./world.ts";
const [from, to] = process.argv.slice(2).map(Number) as [number, number];
const begin = Date.now(); let bad = 0;
for (let seed = from; seed < to; seed++) {
  const { problems } = await simulate({ createEngine: createEngine as never, makeStore: memoryStore }, seed);
  if (process.env["DBG"]) console.log((globalThis as any).__log?.join("\n"));
  if (problems.length > 0 && bad++ < 8) console.log(seed, JSON.stringify([...randomFaults(seed)]), problems.map((p) => p.slice(0, 700)).join("\n   "));
}
console.log(`${bad} bad of ${to - from} in ${Date.now() - begin} ms`);
