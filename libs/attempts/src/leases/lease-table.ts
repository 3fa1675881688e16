const ID_BYTES = 32;
/** state int32 · id length int32 · fence float64 · renewed-at float64 · id */
const ROW_BYTES = 8 + 8 + 8 + ID_BYTES;

export interface HeldLease {
  readonly row: number;
  /** Tells this use of the row from earlier and later ones. */
  readonly generation: number;
  readonly callId: string;
  readonly fence: number;
}

/** Monotonic milliseconds that all threads of this process share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * The leases that this process holds, in memory shared by the thread that runs tools and the thread that renews. Taking
 * and giving back cost no message, so a short call does not wake the other thread; the renewing thread looks by its
 * own clock. Only the owner thread takes and releases; a row's state is its generation while held, 0 while free.
 */
export class LeaseTable {
  private readonly free: number[] = [];
  private readonly ints: Int32Array;
  private readonly floats: Float64Array;
  private readonly bytes: Uint8Array;
  private generation = 0;

  constructor(readonly memory: SharedArrayBuffer) {
    this.ints = new Int32Array(memory);
    this.floats = new Float64Array(memory);
    this.bytes = new Uint8Array(memory);
    for (let row = this.rows - 1; row >= 0; row -= 1) this.free.push(row);
  }

  static ofSize(rows: number): LeaseTable {
    return new LeaseTable(new SharedArrayBuffer(rows * ROW_BYTES));
  }

  get rows(): number {
    return this.memory.byteLength / ROW_BYTES;
  }

  /** Owner thread only. Throws when every row is taken or the id is longer than a call id may be. */
  take(callId: string, fence: number): HeldLease {
    const row = this.free.pop();
    if (row === undefined) throw new Error(`No room for another lease: ${this.rows} are held.`);
    const id = Buffer.from(callId, 'latin1');
    if (id.length > ID_BYTES) throw new Error(`A call id has at most ${ID_BYTES} characters; got ${id.length}.`);
    this.generation = this.generation >= 0x7fff_fffe ? 1 : this.generation + 1;
    this.bytes.set(id, row * ROW_BYTES + 24);
    this.ints[this.state(row) + 1] = id.length;
    this.floats[(row * ROW_BYTES) / 8 + 1] = fence;
    this.floats[(row * ROW_BYTES) / 8 + 2] = sharedNow();
    Atomics.store(this.ints, this.state(row), this.generation);
    return { row, generation: this.generation, callId, fence };
  }

  /** Owner thread only. Releasing twice does nothing. */
  release(lease: HeldLease): void {
    if (Atomics.compareExchange(this.ints, this.state(lease.row), lease.generation, 0) === lease.generation) this.free.push(lease.row);
  }

  isHeld(lease: Pick<HeldLease, 'row' | 'generation'>): boolean {
    return Atomics.load(this.ints, this.state(lease.row)) === lease.generation;
  }

  /** Every held lease with the time of its last renewal. A row that changes while it is read is left out. */
  held(): (HeldLease & { readonly renewedAt: number })[] {
    const leases = [];
    for (let row = 0; row < this.rows; row += 1) {
      const generation = Atomics.load(this.ints, this.state(row));
      if (generation === 0) continue;
      const length = this.ints[this.state(row) + 1] ?? 0;
      const start = row * ROW_BYTES + 24;
      const lease = {
        row,
        generation,
        callId: Buffer.from(this.bytes.subarray(start, start + length)).toString('latin1'),
        fence: this.floats[(row * ROW_BYTES) / 8 + 1] ?? 0,
        renewedAt: this.floats[(row * ROW_BYTES) / 8 + 2] ?? 0,
      };
      if (this.isHeld(lease)) leases.push(lease);
    }
    return leases;
  }

  /** Renewing thread only. `at` is when the renewal was asked for, which is never later than what Redis counts from. */
  renewed(lease: Pick<HeldLease, 'row' | 'generation'>, at: number): void {
    if (this.isHeld(lease)) this.floats[(lease.row * ROW_BYTES) / 8 + 2] = at;
  }

  private state(row: number): number {
    return (row * ROW_BYTES) / 4;
  }
}
