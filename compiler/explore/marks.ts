/** A set of places or nodes, for searches that start thousands of times: emptying it costs nothing, and no search leaves garbage. */
export class Marks {
  private readonly stamps: Uint32Array;
  private now = 1;

  /** @param size places and nodes are below this number */
  constructor(size: number) {
    this.stamps = new Uint32Array(size);
  }

  /** Contains these places only. */
  reset(places: readonly number[]): void {
    this.now++;
    for (const place of places) this.stamps[place] = this.now;
  }

  has(place: number): boolean {
    return this.stamps[place] === this.now;
  }

  add(place: number): void {
    this.stamps[place] = this.now;
  }

  delete(place: number): void {
    this.stamps[place] = 0;
  }
}
