/**
 * `ngraph/stores/contract`: the parts that the stores of this package are made of, for stores of other authors. The errors,
 * checks and limits are the ones that the conformance suite expects. Node only.
 */

// Values: plain JSON, copied and frozen or checked and written as text.
export { checkJson, freezeDeep, frozenJson } from "../../runtime/stores/contract/frozen-json.ts";
export { jsonText } from "../../runtime/stores/contract/json-text.ts";

// Headers: schema versions, phases and statuses that this version of ngraph knows.
export { checkSchemaVersion, decodeHeader, encodeHeader } from "../../runtime/stores/contract/header-text.ts";
export { refuseUnknown, unknownIn } from "../../runtime/interface/known-phase.ts";

// Names and limits.
export { checkNames, decodeKey, encodeKey } from "../../runtime/stores/contract/key.ts";
export { checkPrunePolicy, rowLimit } from "../../runtime/stores/contract/limits.ts";

// Retention: what `prune` keeps.
export {
  type ChangePoint,
  keptByChain,
  keptCheckpoints,
  type PrunePoint,
  superseded,
  supersededByChannel,
} from "../../runtime/stores/contract/retention.ts";

// Errors.
export {
  changedTwice,
  checkpointExists,
  claimIsLost,
  corruptRecord,
  headHasMoved,
  notAList,
  quote,
  storeIsClosed,
  threadIsHeld,
  unknownCheckpoint,
  unknownVersion,
} from "../../runtime/stores/contract/store-error.ts";

// Claims of processes on this machine.
export { type HolderProcess, hasExited, thisProcess } from "../../runtime/stores/contract/holder-process.ts";

// Rows with version and checksum, for a table of any layout.
export {
  addChecksum,
  type Row,
  type RowContent,
  rowName,
  type Table,
  verifyRow,
} from "../../runtime/stores/contract/rows.ts";

// The row layout of the SQL stores: chains of cells, of which a list that grows costs its new items.
export {
  continuesChain,
  type EncodedChange,
  encodeChanges,
  type LastCell,
  listText,
  nextCell,
  nextState,
  type Place,
} from "../../runtime/stores/contract/cells.ts";
export {
  CELLS,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  HEADS,
  type HeadRow,
  THREADS,
  type ThreadRow,
  WRITES,
  type WriteRow,
} from "../../runtime/stores/contract/rows.ts";
export { checkpointsOf } from "../../runtime/stores/contract/values-at.ts";
export { decodeWrite, encodeWrites } from "../../runtime/stores/contract/write-text.ts";
