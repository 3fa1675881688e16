import { ProblemError } from '#contracts';

/** Redis was unreachable past the deadline. The transition may have been applied: repeat it with the same ids. */
export class EventLogUnavailable extends Error {
  override readonly name: string = 'EventLogUnavailable';
  readonly retryable = true;
}

/** The master applied the transition, but too few replicas confirmed it in time (`replicated`). A repeat with the same ids is safe. */
export class EventLogUnreplicated extends EventLogUnavailable {
  override readonly name = 'EventLogUnreplicated';
}

/** The archive does not answer, so entries that have left Redis cannot be read now. */
export class ArchiveUnavailable extends Error {
  override readonly name = 'ArchiveUnavailable';
}

/** Redis is above maxmemory and accepts no new calls; accepted calls still run and end. Nothing was written. */
export class EventLogFull extends Error {
  override readonly name = 'EventLogFull';
  readonly retryable = true;

  constructor(
    message = 'Redis is above its maxmemory and accepts no new calls. Let running calls end, archive and trim the log, or raise maxmemory.',
  ) {
    super(message);
  }
}

/** The open calls of the tenant reached their limit of bytes in the partition of the call. Nothing was written. */
export class EventLogTenantFull extends EventLogFull {
  constructor() {
    super('The calls of the tenant that have not ended have as many bytes as they may. Let some end, or cancel some.');
  }
}

/** Answer about a call that was in the log and is no longer: streams and waits end with it. */
export function callLost(callId: string): ProblemError {
  const detail =
    'A failover of Redis lost this call: no replica had it. Submit it again, under the same Idempotency-Key if it had one; see DURABILITY';
  return new ProblemError('call_lost', detail, { callId });
}
