import { defineConfig } from "vitest/config";

/** Tests that run the built program (`dist/`): they share one build, made before the first of them. */
const OF_THE_BUILD = ["test/cli/**/*.test.ts", "test/package/**/*.test.ts"];

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/summary-reporter.ts"],
    projects: [
      {
        test: {
          name: "source",
          include: ["test/**/*.test.ts"],
          exclude: OF_THE_BUILD,
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
    ],
  },
});
