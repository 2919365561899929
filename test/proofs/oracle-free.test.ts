import { describeFamily } from "./oracle/compare-family.ts";

// Each choice has a channel of its own, and all arms: no two nodes write the same, and nothing is left out.
describeFamily("free", { graphs: 6000, without: ["race", "not exhaustive"] });
