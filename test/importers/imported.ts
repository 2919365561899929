/** Imports of sources, for tests. */
import { expect } from "vitest";
import { check, compile, createEngine } from "../../api/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { format } from "../../grammar/index.ts";
import { ImportError, importText } from "../../importers/index.ts";
import type { SourceKind } from "../../importers/kinds.ts";

/** The import of a source, with what the compiler says about it and its stubs. */
export async function imported(source: string | object, path = "source.json", kind?: SourceKind) {
  const text = typeof source === "string" ? source : JSON.stringify(source);
  const result = await importText(text, path, {
    name: "source",
    module: "./nodes.ts",
    ...(kind === undefined ? {} : { kind }),
  });
  expect(await format(result.text)).toBe(result.text);
  const host = memoryHost({ "nodes.ts": result.stubs ?? "" });
  const { diagnostics } = check(result.text, { path: "source.ngraph", host });
  const findings = diagnostics
    .filter(({ severity }) => severity !== "info")
    .map(({ code, severity }) => `${code}:${severity}`);
  return { ...result, findings };
}

/** An engine of an imported graph, with functions in the place of its stubs. */
export async function engineOf(
  source: object | string,
  functions: Record<string, (...args: never[]) => unknown>,
  path = "source.json",
) {
  const { text, stubs } = await imported(source, path);
  const { table, diagnostics } = compile(text, {
    path: "source.ngraph",
    host: memoryHost({ "nodes.ts": stubs ?? "" }),
  });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return createEngine(table, { functions, store: new MemoryStore() });
}

/** The place and the message of what is refused. */
export async function refusal(source: string | object, path = "source.json", kind?: SourceKind): Promise<string> {
  const error = await imported(source, path, kind).then(
    () => "it was imported",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ImportError);
  return `${(error as ImportError).at}: ${(error as ImportError).message}`;
}
