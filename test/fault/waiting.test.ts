/** Rules W1 to W5 under random users and processes that die, against a reference interpreter. */
import { test } from "vitest";
import { scale } from "../support/depth.ts";
import { simulateWaiting } from "./waiting-simulation.ts";
import { expectSeeds } from "./expect-seeds.ts";

test("threads that wait match the reference interpreter", { timeout: 600_000 }, () =>
  expectSeeds(simulateWaiting, scale(4000, 250), FEATURES),
);

const FEATURES = [
  "a bare resume",
  "a deadline beside other waits",
  "a fork from before the wait",
  "a fork of a wait",
  "a look that cannot commit",
  "a process that dies",
  "a repeated signal",
  "a signal",
  "a thread that is due",
  "an answer",
  "status: completed",
  "status: paused",
  "two wake at once",
];
