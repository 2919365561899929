/** The `code` of the error of a command that cannot read a part of this program. */
export const MISSING_PART = "NGC_MISSING_PART";
