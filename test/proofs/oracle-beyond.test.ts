import { describeFamily } from "./oracle/compare-family.ts";

// Missing values are compared only where the proofs compute conditions exactly.
describeFamily("beyond", { graphs: 4_000, without: ["not exhaustive"] });
