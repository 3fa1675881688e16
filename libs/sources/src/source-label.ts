import type { StoredSource } from '#contracts';
import { telemetry } from '#observability';
import { ToolError } from '#tool-sdk';

/** How metrics name a source: those of the operator by name, others together, since tenants name theirs as they like. */
export function sourceLabel({ name, origin }: { readonly name: string; readonly origin: StoredSource['origin'] | 'announced' }): string {
  return origin === 'config' ? name : 'other';
}

/** Runs a call of a source and reports how it ended. `source`: its label. */
export async function countedCall<T>(source: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  try {
    const output = await call();
    telemetry.sourceCalled.emit({ source, result: 'ok' });
    return output;
  } catch (error) {
    const failed = error instanceof ToolError && error.code === 'unavailable' ? 'unavailable' : 'failed';
    telemetry.sourceCalled.emit({ source, result: signal.aborted ? 'stopped' : failed });
    throw error;
  }
}
