import { describe, expect, it } from "vitest";
import { compare } from "./oracle/compare.ts";

type Verdicts = Pick<NonNullable<ReturnType<typeof compare>>["verdicts"], "sound" | "deadlock" | "race" | "holds">;

/** More with NGRAPH_ORACLE_GRAPHS=20000; each seed is always the same graph. */
const GRAPHS = Number(process.env["NGRAPH_ORACLE_GRAPHS"] ?? 2000);
const PARTS = 4;

/**
 * Every verdict of the proofs against all runs of small random graphs, executed through the scheduler that the engine runs
 * on: soundness (NG301 to NG311, NG316), writers of one step (NG401), assertions (NG213, NG214); and every trace is replayed.
 */
describe("proofs agree with brute force", () => {
  // Only verdicts are kept: the states behind them are many.
  const compared: Verdicts[] = [];
  for (let part = 0; part < PARTS; part++) {
    const first = Math.floor((GRAPHS * part) / PARTS);
    const end = Math.floor((GRAPHS * (part + 1)) / PARTS);
    it(`on graphs ${first} to ${end - 1}`, { timeout: 600_000 }, () => {
      for (let seed = first; seed < end; seed++) {
        const found = compare(seed);
        if (found === undefined) continue;
        const { sound, deadlock, race, holds } = found.verdicts;
        compared.push({ sound, deadlock, race, holds });
        expect(found.differences, `graph ${seed}:\n${found.graph.text}`).toEqual([]);
      }
    });
  }

  it("compares most graphs, and every verdict is at least one in twenty", () => {
    expect(compared.length).toBeGreaterThan(GRAPHS * 0.9);
    const share = (accept: (found: Verdicts) => boolean): number => compared.filter(accept).length / compared.length;
    const holds = (index: number, value: boolean): number => share(({ holds }) => holds[index] === value);
    const shares = {
      sound: share(({ sound }) => sound),
      unsound: share(({ sound }) => !sound),
      deadlock: share(({ deadlock }) => deadlock),
      race: share(({ race }) => race),
      before: holds(0, true),
      notBefore: holds(0, false),
      once: holds(1, true),
      twice: holds(1, false),
      eventually: holds(2, true),
      notAlways: holds(2, false),
      never: holds(3, true),
      together: holds(3, false),
    };
    for (const [verdict, value] of Object.entries(shares)) expect(value, verdict).toBeGreaterThanOrEqual(0.05);
  });
});
