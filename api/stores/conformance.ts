/** `ngraph/stores/conformance`: the contract suite that any store can run, in any test runner. */
export * from "../../runtime/stores/conformance/conformance.ts";
