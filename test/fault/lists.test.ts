/** 5.4, 5.5, 6.2, 7.2 under users who edit lists whose items are in progress, and processes that die, against a reference interpreter. */
import { test } from "vitest";
import { scale } from "../support/depth.ts";
import { expectSeeds } from "./expect-seeds.ts";
import { simulateLists } from "./list-simulation.ts";

test("items of edited lists match the reference interpreter", { timeout: 600_000 }, () =>
  expectSeeds(simulateLists, scale(4000, 150), FEATURES),
);

const FEATURES = ["a completed run"];
