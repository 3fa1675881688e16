import type { AdminEvent, CallEvent } from '#contracts';

/** One entry of the log. */
export interface LogEntry {
  readonly seq: number;
  /** Tells entries with the same number apart, should the log have lost its end. */
  readonly mark: string;
  /** Characters of its text. */
  readonly size: number;
  /** Absent when it changes nothing here, such as Updates and Progress. */
  readonly event?: CallEvent | undefined;
  /** An administrative act; such an entry has no `event`. */
  readonly act?: AdminEvent | undefined;
  /** Why the entry cannot be read as an event; such an entry has none. */
  readonly fault?: string | undefined;
}

/** The log as the projection sees it. */
export interface LogSource {
  /** Entries of a partition from `fromSeq` on, at most `limit`, oldest first; and the partition's epoch. */
  read(partition: string, fromSeq: number, limit: number): Promise<{ readonly epoch: number; readonly entries: readonly LogEntry[] }>;
  /** The newest sequence number of the partition; 0 while it has none. */
  end(partition: string): Promise<number>;
  /** Events up to this one were dropped by retention; 0 for none. Absent: nothing ever is. */
  dropped?(partition: string): Promise<number>;
}

/** Where all rows can be made from: the log, and what has every event that was trimmed from it. */
export interface EventSource extends LogSource {
  /** The first event that it still has of a partition; 1 where none is missing. */
  first(partition: string): Promise<number>;
}
