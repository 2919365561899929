/** 5.4, 5.5, 6.2, 7.2 under users who edit lists whose items are in progress, and processes that die, against a reference interpreter. */
import { test } from "vitest";
import { scale } from "../support/depth.ts";
import { expectSeeds } from "./expect-seeds.ts";
import { simulateLists } from "./list-simulation.ts";

test("items of edited lists match the reference interpreter", { timeout: 600_000 }, () =>
  expectSeeds(simulateLists, scale(4000, 150), FEATURES),
);

const FEATURES = [
  "a cancel",
  "a completed run",
  "a further attempt",
  "a deadline",
  "a drain",
  "condition while items are cut off",
  "condition while items ask",
  "condition while items have failed",
  "condition while items have results",
  "expression while items are cut off",
  "expression while items ask",
  "expression while items have failed",
  "expression while items have results",
  "fork while items are cut off",
  "fork while items ask",
  "fork while items have failed",
  "fork while items have results",
  "function while items are cut off",
  "function while items ask",
  "function while items have failed",
  "function while items have results",
  "update while items are cut off",
  "update while items ask",
  "update while items have failed",
  "update while items have results",
];
