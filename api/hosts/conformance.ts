/** `ngraph/hosts/conformance`: the test suite for systems that run graphs. */
export * from "../../hosts/conformance/conformance.ts";
