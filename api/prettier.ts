/** `ngraph/prettier`: the Prettier plugin; name it under `plugins` in Prettier's configuration. */
export * from "../grammar/prettier-plugin.ts";
