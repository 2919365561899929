/** Validators generated from `table-schema.ts`, each for one level: parts are `loadTable`'s to take one by one. */
export interface SchemaValidator {
  (value: unknown): boolean;
  /** Why the last value was refused. */
  readonly errors:
    | readonly {
        /** JSON pointer into the value. */
        readonly instancePath: string;
        readonly keyword: string;
        readonly params: Readonly<Record<string, unknown>>;
      }[]
    | null
    | undefined;
}
export declare const validateTable: SchemaValidator;
export declare const validatePlan: SchemaValidator;
export declare const validateExpression: SchemaValidator;
export declare const validateType: SchemaValidator;
