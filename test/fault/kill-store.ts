import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";

/** A store by its place: a file, or the URL of a database with the schema as its fragment. */
export function openStore(place: string): SqliteStore | PostgresStore {
  if (!place.startsWith("postgres:")) return new SqliteStore(place);
  const [url, schema] = place.split("#") as [string, string];
  return new PostgresStore({ url, schema, connections: 3 });
}
