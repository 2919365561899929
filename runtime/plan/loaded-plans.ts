/** The code that runs plans: what is loaded with the first run of one. */
export { callPlan } from "./call-plan.ts";
export { PLAN_OPERATIONS } from "./plan-operations.ts";
