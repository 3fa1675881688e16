/** Facts of an archived event, enough to read it like an event of the log. */
export interface ArchivedEvent {
  readonly seq: number;
  /** The CloudEvents envelope. */
  readonly json: string;
}

/** Keys of a call in Redis at its end, unchanged. */
export interface ArchivedCall {
  /** Input of `decodeSnapshot`. */
  readonly snapshot: Buffer;
  /** Input of `eventSeqs`. */
  readonly updateIndex: Buffer;
}

/** Events, calls and large values that have left Redis. Answers may take as long as the store takes; errors of the store reject. */
export interface LogArchive {
  /**
   * Events of a partition from `from` to `to`, both included, oldest first, at most `limit`. Leaves out dropped events at the
   * beginning, and ends before the first event that is not archived.
   */
  range(partition: string, from: number, to: number, limit: number): Promise<readonly ArchivedEvent[]>;
  /** Last event of the partition that retention has dropped; 0 for none. */
  droppedSeq(partition: string): Promise<number>;
  /** Undefined unless the call has ended and was archived. */
  call(callId: string): Promise<ArchivedCall | undefined>;
  /** A large value of an archived call; undefined for an unknown name. */
  value(callId: string, ref: string): Promise<Buffer | undefined>;
}
