/** Maximum nesting of one value. */
export const MAX_VALUE_DEPTH = 200;
/** Maximum number of values inside one value. A structure that shares its parts may be far larger than its memory. */
export const MAX_VALUE_COUNT = 2_000_000;

/** Maximum number of characters of all texts inside one value. A stored value is held several times, as JSON and as text. */
export const MAX_VALUE_TEXT = 67_108_864;
