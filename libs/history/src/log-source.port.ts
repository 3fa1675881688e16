import type { AdminEvent, CallEvent } from '#contracts';

/** Entry of the log. */
export interface LogEntry {
  readonly seq: number;
  /** Distinguishes entries with the same number, after the log has lost its end. */
  readonly mark: string;
  /** Characters of its text. */
  readonly size: number;
  /** Absent for entries without effect here, such as Updates and Progress. */
  readonly event?: CallEvent | undefined;
  /** An administrative act; such an entry has no `event`. */
  readonly act?: AdminEvent | undefined;
  /** Reason why the entry cannot be read; such an entry has no event. */
  readonly fault?: string | undefined;
}

/** Log as the source of the projection. */
export interface LogSource {
  /** Entries of a partition from `fromSeq` on, at most `limit`, oldest first; and the partition's epoch. */
  read(partition: string, fromSeq: number, limit: number): Promise<{ readonly epoch: number; readonly entries: readonly LogEntry[] }>;
  /** Newest sequence number of the partition; 0 while it is empty. */
  end(partition: string): Promise<number>;
  /** Last event that retention has dropped; 0 for none. Absent: no retention. */
  dropped?(partition: string): Promise<number>;
}

/** Source of a rebuild of all rows: the log, and the archive of every event that was trimmed from it. */
export interface EventSource extends LogSource {
  /** First available event of a partition; 1 if none is missing. */
  first(partition: string): Promise<number>;
}
