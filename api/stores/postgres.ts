/** `ngraph/stores/postgres`: runs in a Postgres database, shared by many processes. Needs the package `pg`. */
export { PostgresStore, type PostgresStoreOptions } from "../../runtime/stores/postgres.ts";
