import { Connection } from "../../runtime/stores/sqlite/connection.ts";

/**
 * Calls `before` ahead of every statement that a store in this process runs, including the begin and the end of
 * transactions.
 * Returns a function that stops this.
 */
export function watchStatements(before: (sql: string) => void): () => void {
  const { prototype } = Connection;
  const { run, get, all } = prototype;
  prototype.run = function (this: Connection, ...parameters) {
    before(parameters[0]);
    return run.apply(this, parameters);
  };
  prototype.get = function <T>(this: Connection, ...parameters: Parameters<typeof get>) {
    before(parameters[0]);
    return get.apply(this, parameters) as T | undefined;
  };
  prototype.all = function <T>(this: Connection, ...parameters: Parameters<typeof all>) {
    before(parameters[0]);
    return all.apply(this, parameters) as T[];
  };
  return () => void Object.assign(prototype, { run, get, all });
}
