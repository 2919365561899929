/** A value that a record of the caller has itself, not by its prototype. */
export function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  // A namespace import has no prototype, so it has no `hasOwnProperty` of its own.
  return record !== undefined && Object.prototype.hasOwnProperty.call(record, name) ? record[name] : undefined;
}
