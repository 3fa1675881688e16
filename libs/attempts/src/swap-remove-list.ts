/**
 * A set of what comes and goes thousands of times a second, some hundreds at once. Nothing may be added that is here already.
 *
 * Not a Set: V8 moves one that is used up into a new table, and the old table points at the new. An old table that has
 * not been collected yet keeps the new one alive, and so all that ever stood in any of them, until a full collection.
 */
export class SwapRemoveList<T> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    this.members.push(member);
  }

  /** The order of the others may change. Harmless for what is not here. */
  delete(member: T): void {
    const index = this.members.lastIndexOf(member);
    if (index < 0) return;
    const last = this.members.pop();
    if (last !== undefined && index < this.members.length) this.members[index] = last;
  }

  all(): T[] {
    return [...this.members];
  }
}
