import type { ColumnType, Generated } from 'kysely';
import type { CallErrorCode, CallOutcome, CallStatus, Pool, Priority, Risk } from '#contracts';

/** A point in time: read as a Date, written as a Date or an RFC 3339 text. */
type Time = ColumnType<Date, Date | string, Date | string>;

/** One row for each call, from its submission on. Lists and numbers read it; people may query it. */
export interface CallsTable {
  readonly id: string;
  /** Monday of the week in which the id was made, in UTC: `2026-11-16`. The table is partitioned by it. */
  readonly week: string;
  /** The partition of the event log that has the events of the call. */
  readonly partition: string;
  readonly tenant_id: string;
  readonly tool: string;
  readonly pool: Pool;
  readonly priority: Priority;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  /** The call completed with a result that is an error. */
  readonly error_result: boolean;
  readonly note: string | null;
  readonly error_code: CallErrorCode | null;
  readonly error_message: string | null;
  /** The same for failures that look alike. */
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
  /** The beginning of the arguments as JSON text. */
  readonly preview: string;
  readonly submitted_at: Time;
  readonly started_at: Time | null;
  readonly ended_at: Time | null;
  readonly wait_ms: number | null;
  readonly run_ms: number | null;
  /** A person was asked about it. */
  readonly asked: boolean;
  /** Of its whole output; null before the End, and where it is not known. */
  readonly output_bytes: number | null;
  /** Of the programs that the last attempt ran; null where it is not known. */
  readonly cpu_ms: number | null;
  /** The words by which free text finds the call. */
  readonly words: string;
}

/** What the calls of a session come to. */
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

/** How many calls of a tenant have a row, by partition of the log. */
export interface TotalsTable {
  readonly tenant_id: string;
  readonly partition: string;
  readonly calls: number;
}

/** Up to which event of each partition of the log the rows are complete. */
export interface PositionsTable {
  readonly partition: string;
  readonly epoch: number;
  readonly seq: number;
  /** Tells two events with the same number apart: a log that lost its end may use a number again. */
  readonly mark: string;
  readonly updated_at: Generated<Date>;
}

/** What the calls of an hour come to, by tool and outcome. Calls that have not ended are in the row whose outcome is empty. */
export interface HoursTable {
  readonly tenant_id: string;
  readonly hour: Time;
  readonly tool: string;
  readonly outcome: string;
  /** Calls that were submitted in the hour; in the row without outcome, as are the waits. */
  readonly submitted: number;
  /** Calls that ended in the hour. */
  readonly ended: number;
  /** Of these: completed calls with an error result. */
  readonly errors: number;
  /** Waits of the calls that were first started in the hour: `latency_bucket` of milliseconds, and beside it how many calls. */
  readonly wait_buckets: readonly number[];
  readonly wait_counts: readonly number[];
  /** Run times of the calls that ended in the hour. */
  readonly run_buckets: readonly number[];
  readonly run_counts: readonly number[];
}

/** Hours whose sums are made; `complete` once they are those of the rows. A row that changes such an hour deletes it here. */
export interface SummedHoursTable {
  readonly hour: Time;
  readonly complete: Generated<boolean>;
}

/**
 * The key of each call whose content is encrypted in the archive. It cannot be made again: without it the content is lost, and that
 * is how a call is erased. Back it up apart from the archive and from the other tables.
 */
export interface ContentKeysTable {
  readonly call_id: string;
  readonly tenant_id: string;
  /** 32 bytes; null: the call was erased. */
  readonly key: Buffer | null;
  readonly created_at: Generated<Date>;
}

/** Who erased which call, and when. */
export interface ErasuresTable {
  readonly call_id: string;
  readonly tenant_id: string;
  readonly partition: string;
  /** The last event of the call: the erasure is complete when it has left Redis. */
  readonly last_seq: number;
  readonly requested_by: string;
  readonly reason: string | null;
  readonly requested_at: Generated<Date>;
  /** Null while copies are left that this system reaches. */
  readonly done_at: Date | null;
  /** Why it cannot be completed. */
  readonly fault: string | null;
}

/** Administrative acts: who changed what. */
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
