/** What an archived event needs to be read like one of the log. */
export interface ArchivedEvent {
  readonly seq: number;
  /** The CloudEvents envelope. */
  readonly json: string;
}

/** What Redis kept of a call when it ended, unchanged. */
export interface ArchivedCall {
  /** As `decodeSnapshot` reads it. */
  readonly snapshot: Buffer;
  /** As `eventSeqs` reads it. */
  readonly updateIndex: Buffer;
}

/** Events, calls and large values that have left Redis. Answers may take as long as the store takes; errors of the store reject. */
export interface LogArchive {
  /**
   * Events of a partition from `from` to `to`, both included, oldest first, at most `limit`. It leaves out
   * dropped ones at the beginning, and ends before the first that is not archived.
   */
  range(partition: string, from: number, to: number, limit: number): Promise<readonly ArchivedEvent[]>;
  /** Events of the partition up to this one were dropped by retention, and are nowhere; 0 for none. */
  droppedSeq(partition: string): Promise<number>;
  /** Undefined when no call with this id has ended and was archived. */
  call(callId: string): Promise<ArchivedCall | undefined>;
  /** A large value of such a call; undefined when it had none of this name. */
  value(callId: string, ref: string): Promise<Buffer | undefined>;
}
