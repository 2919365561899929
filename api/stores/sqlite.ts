/** `ngraph/stores/sqlite`: runs in one SQLite file. Node only. */
export { SqliteStore, type SqliteStoreOptions } from "../../runtime/stores/sqlite.ts";
