/**
 * `ngraph/compiler`: from text to tables, diagnostics and modules. Does no I/O: files come through a `CompilerHost`
 * (`createNodeHost` of `ngraph` reads the disk).
 */
export * from "../compiler/index.ts";
export * from "../diagnostics/render/index.ts";
