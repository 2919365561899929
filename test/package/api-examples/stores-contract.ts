import assert from "node:assert/strict";
import { checkNames, decodeKey, encodeKey, frozenJson, rowLimit } from "ngraph/stores/contract";

// A name of a thread as a key in which every character is safe for a file or a row, and back.
const key = encodeKey("orders/42");
assert.equal(decodeKey(key), "orders/42");
checkNames("orders/42", null);

// What a store keeps of a value: a frozen copy of plain JSON. Anything else is refused.
const kept = frozenJson({ tags: ["a"] }, () => "the metadata");
assert.ok(Object.isFrozen(kept));
assert.throws(() => frozenJson(new Date(), () => "the metadata"));

assert.equal(rowLimit(), 100);
