import type { NodeContext } from "ngraph/runtime";

const ORDERS = [
  { id: "A-7", item: "kettle", amount: 39.5, status: "delivered" },
  { id: "B-2", item: "lamp", amount: 120, status: "lost" },
];

/** Finds an order by its number, such as A-7. */
export function findOrder(id: string): { item: string; amount: number; status: string } {
  const order = ORDERS.find((each) => each.id === id);
  if (order === undefined) throw new Error(`there is no order ${id}`);
  return order;
}

/** Pays the amount of an order back to the customer. */
export async function refund(order: string, amount: number, { idempotencyKey }: NodeContext): Promise<string> {
  // A payment service takes the key, so that a call which is made again pays once.
  return `refunded ${amount} for ${order} (${idempotencyKey.slice(7, 15)})`;
}
