import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { sqliteProperties, type SqliteProperties } from "../../runtime/stores/sqlite/properties.ts";
import { packageRoot } from "../start/package-root.ts";
import { VERSION } from "../start/version.ts";

export interface Environment {
  readonly ngc: string;
  readonly node: string;
  readonly platform: string;
  readonly sqlite: SqliteProperties;
  readonly packages: readonly OptionalPackage[];
  readonly terminal: { readonly isTerminal: boolean; readonly columns: number | null; readonly colors: boolean };
  /** The problems that prevent graphs from running or from being stored. */
  readonly problems: readonly string[];
}

interface OptionalPackage {
  readonly name: string;
  /** `null` if it is not installed. */
  readonly version: string | null;
  readonly use: string;
}

const OPTIONAL: Readonly<Record<string, string>> = {
  "@photostructure/sqlite": "SQLite for Node before 22.13",
  pg: "stores in Postgres",
  "@langchain/langgraph-checkpoint": "ngraph/stores/langgraph",
};

const OLDEST_NODE = [20, 19] as const;

export function readEnvironment(): Environment {
  const sqlite = sqliteProperties();
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const { stdout } = process;
  // `isTTY` is undefined for a file or a pipe, whatever its type says.
  const isTerminal = Boolean(stdout.isTTY);
  return {
    ngc: VERSION,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    sqlite,
    packages: Object.entries(OPTIONAL).map(([name, use]) => ({ name, version: versionOf(name), use })),
    terminal: {
      isTerminal,
      columns: isTerminal ? stdout.columns : null,
      colors: isTerminal && stdout.hasColors(),
    },
    problems: [
      ...(isOld ? [`Node ${process.versions.node} is too old: install Node ${OLDEST_NODE.join(".")} or later`] : []),
      ...(sqlite.problem === null ? [] : [sqlite.problem]),
    ],
  };
}

function versionOf(name: string): string | null {
  const search = createRequire(join(packageRoot(), "package.json")).resolve.paths(name) ?? [];
  for (const directory of search) {
    try {
      const { version } = JSON.parse(readFileSync(join(directory, name, "package.json"), "utf8")) as {
        readonly version?: unknown;
      };
      return String(version);
    } catch {
      // This directory does not contain the package.
    }
  }
  return null;
}
