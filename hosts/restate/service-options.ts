/** Options of the services in Restate. */

/** Restate repeats calls until they succeed. */
export const RETRY = { initialInterval: 50, maxInterval: 5000, exponentiationFactor: 2 } as const;

/** Of objects whose calls are short: they read only what they need, and their journals are removed when they end. */
export const OBJECT_OPTIONS = { enableLazyState: true, journalRetention: 0, retryPolicy: RETRY } as const;
