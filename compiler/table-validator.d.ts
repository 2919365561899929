/** Whether a value has the shape of a routing table; `errors` says why the last one had not. Generated from `table-schema.ts`. */
export declare const validateTable: {
  (value: unknown): boolean;
  readonly errors:
    | readonly {
        /** JSON pointer into the value. */
        readonly instancePath: string;
        readonly keyword: string;
        readonly params: Readonly<Record<string, unknown>>;
      }[]
    | null
    | undefined;
};
