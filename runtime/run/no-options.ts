/** The options of a run whose caller gives none: there is nothing to check. */
export const NO_OPTIONS: Readonly<Record<string, never>> = Object.freeze({});
