import assert from "node:assert/strict";
import { PostgresStore } from "ngraph/stores/postgres";

// Connects with the first call, and creates its tables in this schema.
const store = new PostgresStore({ url: "postgres://app@localhost/app", schema: "runs", connections: 4 });
assert.equal(typeof store.save, "function");
await store.close();
