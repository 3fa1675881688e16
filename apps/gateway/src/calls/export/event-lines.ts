import type { StoredEvent } from '#event-log';

/** An event a line. */
export async function* eventLines(batches: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<string> {
  for await (const events of batches) if (events.length > 0) yield events.map(({ json }) => `${json}\n`).join('');
}
