import type { ExportedEvent } from './export-calls.service.js';

export async function* eventLines(batches: AsyncIterable<readonly ExportedEvent[]>): AsyncGenerator<string> {
  for await (const events of batches) if (events.length > 0) yield events.map(({ json }) => `${json}\n`).join('');
}
