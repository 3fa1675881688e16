/** Redis stayed out of reach past the deadline. Whether the transition was applied is not known: ask again with the same ids. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
  readonly retryable = true;
}

/** Redis is above maxmemory and takes no new calls; those accepted before still run and end. Nothing was written. */
export class EventLogFull extends Error {
  override readonly name = 'EventLogFull';
  readonly retryable = true;

  constructor() {
    super('Redis is above its maxmemory and accepts no new calls. Let running calls end, archive and trim the log, or raise maxmemory.');
  }
}
