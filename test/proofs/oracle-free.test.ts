import { describeFamily } from "./oracle/compare-family.ts";

// Each choice has its own channel and all arms: no two nodes write the same channel, and no value is left out.
describeFamily("free", { graphs: 6000, without: ["race", "not exhaustive"] });
