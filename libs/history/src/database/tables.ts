import type { ColumnType, Generated } from 'kysely';
import type { CallErrorCode, CallOutcome, CallStatus, Pool, Priority, Risk } from '#contracts';

/** A point in time: read as a Date, written as a Date or an RFC 3339 text. */
type Time = ColumnType<Date, Date | string, Date | string>;

/** Row of a call, from its submission on. Source of lists and numbers; people may query it. */
export interface CallsTable {
  readonly id: string;
  /** Monday of the week in which the id was made, in UTC: `2026-11-16`. The table is partitioned by it. */
  readonly week: string;
  /** Partition of the event log with the events of the call. */
  readonly partition: string;
  readonly tenant_id: string;
  readonly tool: string;
  readonly pool: Pool;
  readonly priority: Priority;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  /** True if the call completed with an error result. */
  readonly error_result: boolean;
  readonly note: string | null;
  readonly error_code: CallErrorCode | null;
  readonly error_message: string | null;
  /** Hash that similar failures share. */
  readonly fingerprint: string | null;
  readonly attempt: number;
  readonly suspended: boolean;
  readonly session_id: string | null;
  readonly agent_id: string | null;
  readonly user_id: string | null;
  readonly risk: Risk | null;
  readonly batch_id: string | null;
  readonly parent_call_id: string | null;
  readonly root_call_id: string | null;
  readonly replay_of: string | null;
  readonly schedule_id: string | null;
  readonly tool_call_id: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Beginning of the arguments as JSON text. */
  readonly preview: string;
  readonly submitted_at: Time;
  readonly started_at: Time | null;
  readonly ended_at: Time | null;
  readonly wait_ms: number | null;
  readonly run_ms: number | null;
  /** True if an approval was requested. */
  readonly asked: boolean;
  /** Bytes of its whole output; null before the End, or if unknown. */
  readonly output_bytes: number | null;
  /** CPU time of the programs that the last attempt ran; null if unknown. */
  readonly cpu_ms: number | null;
  /** Words of the call for free-text search. */
  readonly words: string;
}

/** Sums of the calls of a session. */
export interface SessionsTable {
  readonly tenant_id: string;
  readonly session_id: string;
  readonly partition: string;
  readonly agent_id: string | null;
  readonly calls: number;
  /** Calls that have not ended. */
  readonly open: number;
  readonly failed: number;
  readonly first_at: Time;
  readonly last_at: Time;
}

/** Number of a tenant's calls with a row, by partition of the log. */
export interface TotalsTable {
  readonly tenant_id: string;
  readonly partition: string;
  readonly calls: number;
}

/** Last event of each partition of the log that is in the rows. */
export interface PositionsTable {
  readonly partition: string;
  readonly epoch: number;
  readonly seq: number;
  /** Distinguishes events with the same number: a log that lost its end may use a number again. */
  readonly mark: string;
  readonly updated_at: Generated<Date>;
}

/** Sums of the calls of an hour, by tool and outcome. Open calls are in the row with an empty outcome. */
export interface HoursTable {
  readonly tenant_id: string;
  readonly hour: Time;
  readonly tool: string;
  readonly outcome: string;
  /** Calls submitted in the hour; in the row without outcome, like the waits. */
  readonly submitted: number;
  /** Calls that ended in the hour. */
  readonly ended: number;
  /** Ended calls that completed with an error result. */
  readonly errors: number;
  /** Waits of the calls first started in the hour: `latency_bucket` of milliseconds, and the number of calls in each. */
  readonly wait_buckets: readonly number[];
  readonly wait_counts: readonly number[];
  /** Run times of the calls that ended in the hour. */
  readonly run_buckets: readonly number[];
  readonly run_counts: readonly number[];
}

/** Hours with sums; `complete` once the sums match the rows. A changed row of such an hour deletes the entry. */
export interface SummedHoursTable {
  readonly hour: Time;
  readonly complete: Generated<boolean>;
}

/**
 * Keys of calls whose content is encrypted in the archive. A call is erased by deleting its key, without which the content is
 * lost for ever. Back up this table apart from the archive and from the other tables.
 */
export interface ContentKeysTable {
  readonly call_id: string;
  readonly tenant_id: string;
  /** 32 bytes; null: the call was erased. */
  readonly key: Buffer | null;
  readonly created_at: Generated<Date>;
}

/** Erasures of calls, with requester and time. */
export interface ErasuresTable {
  readonly call_id: string;
  readonly tenant_id: string;
  readonly partition: string;
  /** Last event of the call: the erasure is complete when it has left Redis. */
  readonly last_seq: number;
  readonly requested_by: string;
  readonly reason: string | null;
  readonly requested_at: Generated<Date>;
  /** Time of completion; null while this system still has copies. */
  readonly done_at: Date | null;
  /** Reason why the erasure cannot be completed. */
  readonly fault: string | null;
}

/** Administrative acts. */
export interface ActsTable {
  readonly partition: string;
  readonly seq: number;
  readonly tenant_id: string;
  readonly type: string;
  readonly actor: string;
  readonly target: string;
  readonly at: Time;
  /** The event as JSON text. */
  readonly event: string;
}

export interface HistoryTables {
  readonly acts: ActsTable;
  readonly calls: CallsTable;
  readonly sessions: SessionsTable;
  readonly totals: TotalsTable;
  readonly positions: PositionsTable;
  readonly hours: HoursTable;
  readonly summed_hours: SummedHoursTable;
  readonly content_keys: ContentKeysTable;
  readonly erasures: ErasuresTable;
}
