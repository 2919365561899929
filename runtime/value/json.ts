/** Plain JSON: all that state, checkpoints and tables are made of. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A value, or a promise of one: synchronous stores and nodes cost no tick of the event loop. */
export type MaybePromise<T> = T | PromiseLike<T>;
