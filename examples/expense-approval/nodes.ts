/** Node functions of `expense-approval.ngraph`. The bank is a stub: it runs offline and always answers alike. */

export interface Expense {
  employee: string;
  amount: number;
  purpose: string;
}

/** An error with the status of an HTTP response. `error.status` has it in the graph. */
export class BankError extends Error {
  override readonly name = "BankError";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Pays an expense. The stub refuses large amounts, and has no account of the employee `nobody`. */
export async function pay({ employee, amount }: Expense): Promise<string> {
  if (employee === "nobody") throw new BankError("no such account", 404);
  if (amount > 5_000) throw new BankError("above the limit of one day", 429);
  return `paid ${amount.toFixed(2)} to ${employee}`;
}
