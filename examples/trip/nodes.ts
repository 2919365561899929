/** Reservations of a trip. A real service takes the idempotency key, so that a repeated call reserves or cancels nothing twice. */
import type { NodeContext } from "ngraph/runtime";

export interface Trip {
  traveller: string;
  /** The reservation that the services refuse: `flight`, `hotel` or `car`. */
  soldOut?: string;
}

export async function reserveFlight(trip: Trip, { idempotencyKey }: NodeContext): Promise<string> {
  return reserve("flight", trip, idempotencyKey);
}

export async function reserveHotel(trip: Trip, { idempotencyKey }: NodeContext): Promise<string> {
  return reserve("hotel", trip, idempotencyKey);
}

export async function reserveCar(trip: Trip, { idempotencyKey }: NodeContext): Promise<string> {
  return reserve("car", trip, idempotencyKey);
}

export async function cancelFlight(reservation: string): Promise<void> {
  console.error(`cancelled ${reservation}`);
}

export async function cancelHotel(reservation: string): Promise<void> {
  console.error(`cancelled ${reservation}`);
}

export async function cancelCar(reservation: string): Promise<void> {
  console.error(`cancelled ${reservation}`);
}

function reserve(what: string, { traveller, soldOut }: Trip, key: string): string {
  if (soldOut === what) throw Object.assign(new Error(`no ${what} for ${traveller}`), { retryable: false });
  return `${what} ${key.slice(7, 15)}`;
}
