import type { RedisConnection } from '#redis';

/** Connections to Redis that features open for themselves, some at their first use: without one of them this process is not ready. */
export class NeededConnections {
  private readonly sources: (() => readonly RedisConnection[])[] = [];

  /** `open` returns those that are open by now. */
  add(open: () => readonly RedisConnection[]): void {
    this.sources.push(open);
  }

  get all(): readonly RedisConnection[] {
    return this.sources.flatMap((open) => open());
  }
}
