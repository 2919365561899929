/** The points at which a process of the kill sweep may end: before and after each statement for its store. */
import { createRequire } from "node:module";
import type { SqliteDatabase } from "../../runtime/stores/sqlite/driver.ts";

/**
 * `before`: the statement has not been sent. `after`: with SQLite the statement is complete; with Postgres it is in
 * flight, and its result is unknown. Only statements that end a transaction have an `after`. Other statements leave
 * nothing durable, so the point after them is equivalent to the point before the next statement.
 */
export interface KillPoint {
  readonly when: "before" | "after";
  readonly sql: string;
}

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

/** Calls `pass` at every point from now on. */
export function watchPoints(place: string, pass: (point: KillPoint) => void): void {
  if (place.startsWith("postgres:")) watchPostgres(pass);
  else watchSqlite(pass);
}

export function endsTransaction(sql: string): boolean {
  return /\bCOMMIT\b/.test(sql);
}

function watchPostgres(pass: (point: KillPoint) => void): void {
  const { Client } = createRequire(import.meta.url)("pg") as { Client: { prototype: { query: Method } } };
  const { query } = Client.prototype;
  Client.prototype.query = function (...parameters) {
    const [given] = parameters as [string | { readonly text: string }];
    const sql = typeof given === "string" ? given : given.text;
    pass({ when: "before", sql });
    const answer = query.apply(this, parameters);
    if (endsTransaction(sql)) pass({ when: "after", sql });
    return answer;
  };
}

/** Hooks the driver of the current Node version. Statements that open a file and create its tables count too. */
function watchSqlite(pass: (point: KillPoint) => void): void {
  const around = <T>(sql: string, ask: () => T): T => {
    pass({ when: "before", sql });
    const result = ask();
    if (endsTransaction(sql)) pass({ when: "after", sql });
    return result;
  };
  const watched = ({ DatabaseSync }: SqliteModule) =>
    function (path: string): SqliteDatabase {
      const database = new DatabaseSync(path);
      return {
        exec: (sql) => around(sql, () => database.exec(sql)),
        close: () => database.close(),
        prepare: (sql) => {
          const statement = database.prepare(sql);
          return {
            run: (...values) => around(sql, () => statement.run(...values)),
            get: (...values) => around(sql, () => statement.get(...values)),
            all: (...values) => around(sql, () => statement.all(...values)),
          };
        },
      };
    };
  const { getBuiltinModule } = process;
  const require = createRequire(import.meta.url);
  process.getBuiltinModule = ((name: string) => {
    const found: unknown = getBuiltinModule(name);
    if (name !== "node:sqlite") return found;
    return { DatabaseSync: watched((found ?? require("@photostructure/sqlite")) as SqliteModule) };
  }) as typeof process.getBuiltinModule;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}
