/** 5.7 to 6.3 under users who edit graphs, repair threads and migrate them, against a reference interpreter. */
import { test } from "vitest";
import { scale } from "../support/depth.ts";
import { simulateEdits } from "./edits-simulation.ts";
import { expectSeeds } from "./expect-seeds.ts";

test("edited threads match the reference interpreter", { timeout: 600_000 }, () =>
  expectSeeds(simulateEdits, scale(1000, 90), FEATURES),
);

const FEATURES = [
  "a fork: accepted",
  "a further run: accepted",
  "a run that is drained",
  "a sleep that ends",
  "a migration: accepted",
  "a process that dies",
  "a recovered thread",
  "a signal that does not fit",
  "a signal that fits",
  "an answer that does not fit",
  "an answer that does not fit a gate",
  "an answer that fits",
  "an update as a node of an unfinished step: accepted",
  "an update: NG_BAD_INPUT",
  "an update: NG_DRIFT",
  "another graph",
  "declared names",
  "edit: add channel, drift",
  "edit: add input, drift",
  "edit: list",
  "edit: reducer, drift",
  "edit: remove channel",
  "edit: rename channel",
  "edit: rename graph, drift",
  "edit: rename node, drift",
  "edit: retype, drift",
  "the former version of the graph",
];
