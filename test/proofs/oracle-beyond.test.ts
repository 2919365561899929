import { describeFamily } from "./oracle/compare-family.ts";

// What is left out is only compared where conditions are followed exactly.
describeFamily("beyond", { graphs: 4_000, agreed: 200, without: ["not exhaustive"] });
