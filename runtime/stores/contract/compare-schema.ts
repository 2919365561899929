import { StoreError } from "../../interface/errors.ts";

/** A table, index, trigger, view or other object of a database's schema. */
export interface SchemaObject {
  readonly kind: string;
  readonly name: string;
  /** The definition in a form that is equal for equal objects. */
  readonly definition: string;
  /** The statement that creates it, for an object whose content the database can compute from other rows. */
  readonly create?: string;
}

/** The differences between a schema and the one that this program creates. */
export function compareSchema(
  database: string,
  expected: readonly SchemaObject[],
  found: readonly SchemaObject[],
): StoreError[] {
  const key = ({ kind, name }: SchemaObject): string => `${kind} ${name}`;
  const foundByKey = new Map(found.map((each) => [key(each), each]));
  const expectedKeys = new Set(expected.map(key));
  const errors: StoreError[] = [];
  const add = (message: string): void => {
    errors.push(new StoreError("NG_CORRUPT_RECORD", `${database}: ${message}`));
  };
  for (const object of expected) {
    const other = foundByKey.get(key(object));
    const repair =
      object.create === undefined ? "restore the store from a backup" : `create it again with \`${object.create}\``;
    if (other === undefined) add(`${object.kind} \`${object.name}\` is missing: ${repair}`);
    else if (other.definition !== object.definition) {
      add(
        `${object.kind} \`${object.name}\` differs from the one that this version of ngraph creates: ` +
          "restore the store from a backup",
      );
    }
  }
  for (const object of found) {
    if (expectedKeys.has(key(object))) continue;
    add(`${object.kind} \`${object.name}\` was not created by ngraph: drop it, or use another database`);
  }
  return errors;
}
