import type { RedisConnection } from '#redis';

/** Connections to Redis that features open for themselves, some on first use: without one of them this process is not ready. */
export class NeededConnections {
  private readonly sources: (() => readonly RedisConnection[])[] = [];

  /** `open` returns the currently open connections. */
  add(open: () => readonly RedisConnection[]): void {
    this.sources.push(open);
  }

  get all(): readonly RedisConnection[] {
    return this.sources.flatMap((open) => open());
  }
}
