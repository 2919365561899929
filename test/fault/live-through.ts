/** Lives through a simulation, and returns its problems. That it broke is one of them. */
export async function liveThrough(simulation: {
  readonly problems: string[];
  live(): Promise<void>;
}): Promise<string[]> {
  try {
    await simulation.live();
  } catch (error) {
    simulation.problems.push(`it broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return simulation.problems;
}
