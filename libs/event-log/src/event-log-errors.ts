/** Redis stayed out of reach past the deadline. Whether the transition was applied is not known: ask again with the same ids. */
export class EventLogUnavailable extends Error {
  override readonly name: string = 'EventLogUnavailable';
  readonly retryable = true;
}

/** Redis has it, but no replica said so in time, and the log is set to `replicated`. Asked again with the same ids it counts once. */
export class EventLogUnreplicated extends EventLogUnavailable {
  override readonly name = 'EventLogUnreplicated';
}

/** What has left Redis cannot be read just now: the archive does not answer. */
export class ArchiveUnavailable extends Error {
  override readonly name = 'ArchiveUnavailable';
}

/** Redis is above maxmemory and takes no new calls; those accepted before still run and end. Nothing was written. */
export class EventLogFull extends Error {
  override readonly name = 'EventLogFull';
  readonly retryable = true;

  constructor(
    message = 'Redis is above its maxmemory and accepts no new calls. Let running calls end, archive and trim the log, or raise maxmemory.',
  ) {
    super(message);
  }
}

/** The open calls of the tenant have as many bytes as they may in the partition of the call. Nothing was written. */
export class EventLogTenantFull extends EventLogFull {
  constructor() {
    super('The calls of the tenant that have not ended have as many bytes as they may. Let some end, or cancel some.');
  }
}
