/**
 * Collection for members that change thousands of times a second, some hundreds at once. A member must not be added twice.
 *
 * Not a Set: V8 rehashes a busy Set into a new table, and the old table refers to the new one. An old table that is not
 * collected yet keeps every later table and its members alive until a full collection.
 */
export class SwapRemoveList<T> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    this.members.push(member);
  }

  /** Deletes a member; the order of the others may change. No effect for a value that is no member. */
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
