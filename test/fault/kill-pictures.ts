/**
 * All pairs of kills with SQLite. A killed process leaves its files as they are at that moment: the system keeps what was
 * written, and drops locks and shared memory. A process that copies its files at every point therefore produces the
 * state that
 * a kill at each of these points would leave. The sweep compares with real kills.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILES } from "./kill-store.ts";

export interface Picture {
  /** The database. */
  readonly path: string;
  readonly ledger: string;
  /** The first point at which the files looked so, and how many points did. */
  readonly point: number;
  readonly points: number;
}

/** In the process that runs. */
export function takePictures(place: string, ledger: string, directory: string) {
  const path = place.split("#")[0]!;
  const files = [...DATABASE_FILES.map((end) => path + end), ledger];
  const pictures: Picture[] = [];
  let last: readonly (Buffer | undefined)[] = [];
  let point = 0;
  return {
    take(): void {
      const now = files.map((file) => (existsSync(file) ? readFileSync(file) : undefined));
      const before = pictures.at(-1);
      const isSame = before !== undefined && now.every((content, index) => equal(content, last[index]));
      if (isSame) pictures[pictures.length - 1] = { ...before, points: before.points + 1 };
      else {
        const name = join(directory, `${point}.db`);
        const copies = [...DATABASE_FILES.map((end) => name + end), `${name}.ledger`];
        for (const [index, content] of now.entries()) if (content !== undefined) writeFileSync(copies[index]!, content);
        pictures.push({ path: name, ledger: `${name}.ledger`, point, points: 1 });
      }
      last = now;
      point++;
    },
    develop(): void {
      writeFileSync(join(directory, LIST), JSON.stringify(pictures));
    },
  };
}

/** In the process that looks. */
export function readPictures(directory: string): readonly Picture[] {
  return JSON.parse(readFileSync(join(directory, LIST), "utf8")) as Picture[];
}

const LIST = "pictures.json";

function equal(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.equals(b));
}
