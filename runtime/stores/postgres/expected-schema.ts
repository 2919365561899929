import type { SchemaObject } from "../contract/compare-schema.ts";
import type { Transaction } from "./connection.ts";

/** The objects of a schema. Constraints that are indexes are listed as indexes. */
export async function schemaOf(transaction: Transaction, schema: string): Promise<readonly SchemaObject[]> {
  const rows = await transaction.all<{ kind: string; name: string; definition: string }>(OBJECTS, schema);
  return rows.map(({ kind, name, definition }) => ({ kind, name, definition }));
}

/** `pg_get_indexdef` names the schema, which is removed. */
const OBJECTS = `
  WITH relations AS (
    SELECT c.oid, c.relname AS name, c.relkind::text AS kind, c.relrowsecurity AS guarded
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text
  )
  SELECT CASE kind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
    WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind, name,
    CASE WHEN guarded THEN 'row security; ' ELSE '' END || coalesce((
      SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
        CASE WHEN a.attnotnull THEN ' not null' ELSE '' END ||
        CASE WHEN co.collname = 'C' THEN ' C' ELSE '' END, ', ' ORDER BY a.attname)
      FROM pg_attribute a LEFT JOIN pg_collation co ON co.oid = a.attcollation
      WHERE a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped AND r.kind NOT IN ('S', 'v', 'm')
    ), '') AS definition
  FROM relations r WHERE kind IN ('r', 'p', 'v', 'm', 'f', 'S')
  UNION ALL
  SELECT 'index', r.name, CASE WHEN i.indisvalid THEN '' ELSE 'invalid; ' END ||
    replace(regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE (UNIQUE )?INDEX [^ ]+ ON (ONLY )?', '\\1ON '), quote_ident($1::text) || '.', '')
  FROM relations r JOIN pg_index i ON i.indexrelid = r.oid WHERE r.kind IN ('i', 'I')
  UNION ALL
  SELECT 'constraint', con.conname, pg_get_constraintdef(con.oid)
  FROM pg_constraint con JOIN relations r ON r.oid = con.conrelid WHERE con.contype IN ('c', 'f', 'x', 't')
  UNION ALL
  SELECT 'trigger', t.tgname, pg_get_triggerdef(t.oid)
  FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
  UNION ALL
  SELECT 'rule', w.rulename, pg_get_ruledef(w.oid)
  FROM pg_rewrite w JOIN relations r ON r.oid = w.ev_class WHERE w.rulename <> '_RETURN'
  UNION ALL
  SELECT 'function', p.proname, pg_get_function_identity_arguments(p.oid)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1::text
  ORDER BY 1, 2`;

/** The objects that the migrations create: kind, name, definition. A test compares them with a new database. */
const OBJECTS_OF_MIGRATIONS: readonly (readonly [kind: string, name: string, definition: string])[] = [
  ["constraint", "threads_v_check", "CHECK ((v >= 2))"],
  ["index", "cells_pkey", "UNIQUE ON cells USING btree (chain, channel, ord)"],
  ["index", "checkpoints_by_id", "UNIQUE ON checkpoints USING btree (thread, id)"],
  ["index", "checkpoints_by_label", "UNIQUE ON checkpoints USING btree (thread, label) WHERE (label IS NOT NULL)"],
  ["index", "checkpoints_pkey", "UNIQUE ON checkpoints USING btree (ord)"],
  ["index", "heads_pkey", "UNIQUE ON heads USING btree (thread, namespace)"],
  ["index", "meta_pkey", "UNIQUE ON meta USING btree (name)"],
  ["index", "signals_pkey", "UNIQUE ON signals USING btree (signal)"],
  ["index", "signals_thread_id_key", "UNIQUE ON signals USING btree (thread, id)"],
  ["index", "signals_waiting", "ON signals USING btree (thread) WHERE (data IS NOT NULL)"],
  ["index", "threads_name_key", "UNIQUE ON threads USING btree (name)"],
  ["index", "threads_pkey", "UNIQUE ON threads USING btree (thread)"],
  ["index", "waits_by_due", "ON waits USING btree (due) WHERE (due IS NOT NULL)"],
  ["index", "waits_pkey", "UNIQUE ON waits USING btree (thread)"],
  ["index", "waits_with_signals", "ON waits USING btree (thread) WHERE (signals > 0)"],
  ["index", "writes_pkey", "UNIQUE ON writes USING btree (write)"],
  ["index", "writes_thread_checkpoint_task_key", "UNIQUE ON writes USING btree (thread, checkpoint, task)"],
  ["sequence", "epochs", ""],
  ["sequence", "ords", ""],
  ["sequence", "signals_signal_seq", ""],
  ["sequence", "thread_numbers", ""],
  ["sequence", "writes_write_seq", ""],
  [
    "table",
    "cells",
    "base bigint not null, chain bigint not null, channel text not null C, count bigint not null, data text, kind bigint not null, ord bigint not null, slack bigint not null, sum bigint not null, v bigint not null, version bigint not null",
  ],
  [
    "table",
    "checkpoints",
    "chain bigint not null, header text not null, id text not null C, label text C, namespace text not null C, ord bigint not null, parent bigint, state bigint not null, sum bigint not null, thread bigint not null, v bigint not null",
  ],
  [
    "table",
    "heads",
    "namespace text not null C, ord bigint not null, sum bigint not null, thread bigint not null, v bigint not null",
  ],
  ["table", "meta", "name text not null, value bigint not null"],
  [
    "table",
    "signals",
    "data text, id text not null C, signal bigint not null, sum bigint not null, thread bigint not null, v bigint not null",
  ],
  [
    "table",
    "threads",
    "checkpoints bigint not null, epoch bigint not null, expires bigint, head bigint, host text C, last bigint not null, name text not null C, namespaces bigint not null, owner text C, pid bigint, started text C, sum bigint not null, thread bigint not null, v bigint not null, writes bigint not null",
  ],
  [
    "table",
    "waits",
    "due bigint, signals bigint not null, sum bigint not null, thread bigint not null, v bigint not null",
  ],
  [
    "table",
    "writes",
    "checkpoint text not null C, data text not null, sum bigint not null, task text not null C, thread bigint not null, v bigint not null, write bigint not null",
  ],
];

/** The objects of the long-term memory, which the first item creates. */
const OBJECTS_OF_MEMORY: typeof OBJECTS_OF_MIGRATIONS = [
  ["index", "items_by_expiry", "ON items USING btree (expires) WHERE (expires IS NOT NULL)"],
  ["index", "items_pkey", "UNIQUE ON items USING btree (namespace, key)"],
  [
    "table",
    "items",
    "created bigint not null, data text not null, expires bigint, key text not null C, namespace text not null C, sum bigint not null, updated bigint not null, v bigint not null",
  ],
];

/** The objects of a schema as the migrations create it, and the long-term memory if the schema has one. */
export function expectedSchema(schema: string, found: readonly SchemaObject[]): readonly SchemaObject[] {
  const prefix = `"${schema.replaceAll('"', '""')}".`;
  const hasMemory = found.some(({ kind, name }) => kind === "table" && name === "items");
  return [...OBJECTS_OF_MIGRATIONS, ...(hasMemory ? OBJECTS_OF_MEMORY : [])].map(([kind, name, definition]) => {
    if (kind !== "index") return { kind, name, definition };
    const [uniqueness, rest] = definition.split(/ON (.*)/s);
    return { kind, name, definition, create: `CREATE ${uniqueness}INDEX ${name} ON ${prefix}${rest}` };
  });
}
