import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { isBroad, isDeep } from "./test/support/depth.ts";
import { testsWithoutDepth } from "./test/support/depth-readers.ts";

// Sources import the validator of tables, which is generated.
execFileSync(process.execPath, [fileURLToPath(new URL("scripts/generate-table-validator.mjs", import.meta.url))]);

/** Tests of the built program (`dist/`). They share one build, which is made before the first of them. */
const CLI = ["test/cli/**/*.test.ts", "test/hostile/**/*.test.ts", "test/package/**/*.test.ts"];

/** Tests that start processes or database servers, or that take seconds of processor time. */
const DEEP = [
  "test/fault/**/*.test.ts",
  "test/hosts/restate-*.test.ts",
  "test/stores/**/*.test.ts",
  "test/**/robustness.test.ts",
  "test/**/oracle-*.test.ts",
  "test/**/*large*.test.ts",
  "test/**/hostile-*.test.ts",
  "test/conformance/langgraph-go-checkpoints.test.ts",
  "test/emit/type-check.test.ts",
  "test/emit/typed-graphs.test.ts",
  "test/docs/snippets.test.ts",
  "test/site/site.test.ts",
];

/** Tests beside LangGraph JS run where it is installed: `npm ci --prefix test/peers`. */
const PEERS = "test/peers/*.test.ts";
const peers = fileURLToPath(new URL("test/peers/node_modules", import.meta.url));

/**
 * Tests that only run beyond the quick depth: planted mistakes, damaged and overloaded databases, the installed package, very large inputs,
 * and one of several oracles of a kind. They take seconds of processor time and rarely fail alone.
 */
const DEEP_ONLY = [
  "test/checks/large-graphs.test.ts",
  "test/cli/doctor.test.ts",
  "test/cli/examples.test.ts",
  "test/cli/lsp-examples.test.ts",
  "test/cli/rivals.test.ts",
  "test/conformance/neograph-stores.test.ts",
  "test/emit/type-check.test.ts",
  "test/emit/typed-graphs.test.ts",
  "test/docs/snippets.test.ts",
  "test/fault/planted-bugs.test.ts",
  "test/fault/planted-edits.test.ts",
  "test/fault/planted-lists.test.ts",
  "test/fault/planted-rollbacks.test.ts",
  "test/fault/planted-waits.test.ts",
  "test/grammar/flat-inputs.test.ts",
  "test/hosts/restate-cluster.test.ts",
  "test/hosts/restate-conformance.test.ts",
  "test/hosts/restate-copies.test.ts",
  "test/hosts/restate-failover.test.ts",
  "test/hosts/restate-scale.test.ts",
  "test/hosts/restate-threads.test.ts",
  "test/hosts/restate-versions.test.ts",
  "test/lower/lower-large.test.ts",
  "test/package/bundlers.test.ts",
  "test/package/entry-points.test.ts",
  "test/package/new-project.test.ts",
  "test/package/optional-packages.test.ts",
  "test/package/typescript-projects.test.ts",
  "test/package/users-project.test.ts",
  "test/peers/langgraph-graph.test.ts",
  "test/peers/langgraph-programs.test.ts",
  "test/peers/langgraph-validation.test.ts",
  "test/proofs/oracle-beyond.test.ts",
  "test/proofs/oracle-free.test.ts",
  "test/proofs/oracle-jumps.test.ts",
  "test/proofs/oracle-planted.test.ts",
  "test/proofs/planted-bugs.test.ts",
  "test/site/site.test.ts",
  "test/stdlib/robustness.test.ts",
  "test/stores/many-processes.test.ts",
  "test/stores/planted-faults.test.ts",
  "test/stores/postgres-cuts.test.ts",
  "test/stores/postgres-damage.test.ts",
  "test/stores/postgres-full-disk.test.ts",
  "test/stores/postgres-outage.test.ts",
  "test/stores/sqlite-crash.test.ts",
  "test/stores/sqlite-damage.test.ts",
];

/** Left out at broad depth, because each takes a minute or more, and what it does at the quick depth finds most of what it can find. */
const NOT_BROAD = [
  "test/cli/plan-traces.test.ts",
  "test/cli/studio.test.ts",
  "test/editor/rename-sweep.test.ts",
  "test/hostile/leftovers.test.ts",
  "test/hostile/signals.test.ts",
  "test/proofs/oracle-engine-third.test.ts",
  "test/stores/postgres.test.ts",
];

/** Beyond the quick depth only the tests run that do more there; `npm test` has all others. */
const SKIPPED = isDeep
  ? testsWithoutDepth(fileURLToPath(new URL(".", import.meta.url))).filter((file) => !DEEP_ONLY.includes(file))
  : DEEP_ONLY;
/** Machines are slow when all cores are busy: these end tests that hang. */
const LIMITS = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 90_000 } },
  // A test that passes at its second attempt is listed at the end as flaky.
  retry: Number(process.env.NGRAPH_TEST_RETRY ?? 0),
};
const EXCLUDE = ["**/node_modules/**", ...SKIPPED, ...(isBroad ? NOT_BROAD : [])];

// `isolate`: in quick runs the files of a worker share their modules, which are loaded once: no test may change what
// others see. Beyond the quick depth each file has a process of its own, because one file may need a gigabyte.

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/summary-reporter.ts"],
    // Vitest leaves one core idle by default, which is half of a small machine.
    maxWorkers: "100%",
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...EXCLUDE, ...CLI, ...DEEP, PEERS],
          isolate: isDeep,
          ...LIMITS,
        },
      },
      {
        test: {
          name: "deep",
          include: DEEP,
          isolate: isDeep,
          exclude: [...EXCLUDE, ...CLI],
          ...LIMITS,
        },
      },
      {
        test: {
          name: "cli",
          include: CLI,
          exclude: EXCLUDE,
          globalSetup: ["test/support/build-once.ts"],
          ...LIMITS,
        },
      },
      ...(existsSync(peers) ? [projectOfPeers()] : []),
    ],
  },
});

function projectOfPeers() {
  return {
    resolve: {
      alias: {
        "@langchain/langgraph-checkpoint": `${peers}/@langchain/langgraph-checkpoint/dist/index.js`,
      },
    },
    test: {
      name: "peers",
      include: [PEERS],
      exclude: EXCLUDE,
      globalSetup: ["test/support/build-once.ts"],
      // The validation suite of LangGraph's checkpointers expects them.
      globals: true,
      ...LIMITS,
    },
  };
}
