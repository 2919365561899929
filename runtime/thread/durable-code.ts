import { CheckpointWriter } from "../checkpoint/checkpoint-writer.ts";
import type { Run } from "../run/run.ts";
import type { Durable } from "../run/shared.ts";
import { continueRun } from "../step/continue-run.ts";
import { keepNumbers, numberItems, recordAskingItems, recordBegunItems } from "../step/item-numbers.ts";
import { openStoredCall } from "../step/stored-call.ts";
import { followFinally, openStoredFinally } from "../step/stored-finally.ts";
import { storedOutcome, storeOutcome } from "../step/stored-outcome.ts";

/** What only runs on threads do. A run has it with the claim on its thread. */
export const DURABLE_CODE = {
  openWriter: (run: Run, durable: Durable): CheckpointWriter => new CheckpointWriter(run, durable),
  continueRun,
  openCall: openStoredCall,
  openFinally: openStoredFinally,
  followFinally,
  keepNumbers,
  numberItems,
  recordAskingItems,
  recordBegunItems,
  storeOutcome,
  storedOutcome,
};

export type DurableCode = typeof DURABLE_CODE;
