import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests that run the built program (`dist/`): they share one build, made before the first of them. */
const OF_THE_BUILD = ["test/cli/**/*.test.ts", "test/package/**/*.test.ts"];

/** Tests against LangGraph JS run where it is installed: `npm ci --prefix test/peers`. */
const OF_PEERS = "test/peers/*.test.ts";
const peers = fileURLToPath(new URL("test/peers/node_modules", import.meta.url));

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/summary-reporter.ts"],
    projects: [
      {
        test: {
          name: "source",
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...OF_THE_BUILD, OF_PEERS],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "build",
          include: OF_THE_BUILD,
          globalSetup: ["test/support/build-once.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
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
      include: [OF_PEERS],
      globalSetup: ["test/support/build-once.ts"],
      // The validation suite of LangGraph's checkpointers expects them.
      globals: true,
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
  };
}
