const ID_BYTES = 32;
/** state int32 · id length int32 · fence float64 · renewed-at float64 · id */
const SLOT_BYTES = 8 + 8 + 8 + ID_BYTES;

export interface HeldLease {
  readonly slot: number;
  /** Identifies this use of the slot. */
  readonly generation: number;
  readonly callId: string;
  readonly fence: number;
}

/** Monotonic milliseconds, the same in all threads of this process. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Leases of this process, in memory shared by the thread that runs tools and the thread that renews. A lease is visible to the
 * renewing thread at once, even if the tool blocks its thread in the same tick. Messages in a batch a tick would come too late
 * then, and cost 28 to 33 ms CPU for 1,000 calls instead of 14 to 19 (decisions/0001). Only the owner thread takes and
 * releases. The state of a slot is its generation while held, 0 while free.
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
    for (let slot = this.slots - 1; slot >= 0; slot -= 1) this.free.push(slot);
  }

  static ofSize(slots: number): LeaseTable {
    return new LeaseTable(new SharedArrayBuffer(slots * SLOT_BYTES));
  }

  get slots(): number {
    return this.memory.byteLength / SLOT_BYTES;
  }

  /** Takes a slot. Owner thread only. Throws if every slot is held or the id exceeds the length of a call id. */
  take(callId: string, fence: number): HeldLease {
    const slot = this.free.pop();
    if (slot === undefined) throw new Error(`Lease table is full: all ${this.slots} slots are held.`);
    const id = Buffer.from(callId, 'latin1');
    if (id.length > ID_BYTES) throw new Error(`A call id has at most ${ID_BYTES} characters; got ${id.length}.`);
    this.generation = this.generation >= 0x7fff_fffe ? 1 : this.generation + 1;
    this.bytes.set(id, slot * SLOT_BYTES + 24);
    this.ints[this.state(slot) + 1] = id.length;
    this.floats[(slot * SLOT_BYTES) / 8 + 1] = fence;
    this.floats[(slot * SLOT_BYTES) / 8 + 2] = monotonicNow();
    Atomics.store(this.ints, this.state(slot), this.generation);
    return { slot, generation: this.generation, callId, fence };
  }

  /** Frees the slot. Owner thread only. Idempotent. */
  release(lease: HeldLease): void {
    if (Atomics.compareExchange(this.ints, this.state(lease.slot), lease.generation, 0) === lease.generation) this.free.push(lease.slot);
  }

  isHeld(lease: Pick<HeldLease, 'slot' | 'generation'>): boolean {
    return Atomics.load(this.ints, this.state(lease.slot)) === lease.generation;
  }

  /** Every held lease with the time of its last renewal. Skips a slot that changes while it is read. */
  held(): (HeldLease & { readonly renewedAt: number })[] {
    const leases = [];
    for (let slot = 0; slot < this.slots; slot += 1) {
      const generation = Atomics.load(this.ints, this.state(slot));
      if (generation === 0) continue;
      const length = this.ints[this.state(slot) + 1] ?? 0;
      const start = slot * SLOT_BYTES + 24;
      const lease = {
        slot,
        generation,
        callId: Buffer.from(this.bytes.subarray(start, start + length)).toString('latin1'),
        fence: this.floats[(slot * SLOT_BYTES) / 8 + 1] ?? 0,
        renewedAt: this.floats[(slot * SLOT_BYTES) / 8 + 2] ?? 0,
      };
      if (this.isHeld(lease)) leases.push(lease);
    }
    return leases;
  }

  /** Records a renewal. Renewing thread only. `at`: time of sending, from which, or later, Redis counts the new lease. */
  renewed(lease: Pick<HeldLease, 'slot' | 'generation'>, at: number): void {
    if (this.isHeld(lease)) this.floats[(lease.slot * SLOT_BYTES) / 8 + 2] = at;
  }

  private state(slot: number): number {
    return (slot * SLOT_BYTES) / 4;
  }
}
