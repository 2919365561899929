/** The JSON Schemas of `table-schema.ts`, compiled by ajv (scripts/generate-table-validator.mjs). Inner tables are not validated. */
export interface SchemaValidator {
  (value: unknown): boolean;
  /** The errors of the last value. */
  readonly errors?: readonly { readonly instancePath: string; readonly keyword: string }[] | null;
}
export declare const validateTable: SchemaValidator;
export declare const validatePlan: SchemaValidator;
