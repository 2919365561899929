/** Plain JSON: the values of state, checkpoints and tables. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A value or a promise of one. Synchronous stores and nodes cost no tick of the event loop. */
export type MaybePromise<T> = T | PromiseLike<T>;
