import type { CommandContext } from '../../command-context.js';
import { parseDuration } from '../../terminal/time-text.js';
import { UsageError } from '../../usage-error.js';

export interface CancelFlags {
  readonly session?: string;
  readonly reason?: string;
  readonly grace?: string;
}

/** Stops calls, or everything in a session, and waits for the end of each call. */
export async function cancel({ client, terminal, json }: CommandContext, callIds: readonly string[], flags: CancelFlags): Promise<number> {
  const { session, reason, grace } = flags;
  if ((session === undefined) === (callIds.length === 0)) throw new UsageError('Expected call ids, or --session, and not both');
  const body = { reason, ...(grace === undefined ? {} : { graceMs: parseDuration(grace) }) };
  if (session !== undefined) {
    const stopped = await client.sessions.cancel(session, body);
    if (json) terminal.json(stopped);
    else terminal.note(`Stopped ${stopped.calls} calls and ${stopped.batches} batches of the session ${session}.`);
    return 0;
  }
  for (const callId of callIds) await client.calls.cancel(callId, body);
  for (const callId of callIds) {
    const call = await client.calls.wait(callId);
    if (json) terminal.json(call);
    else terminal.note(`${call.id}: ${call.outcome ?? call.status}`);
  }
  return 0;
}

/** Stops a batch and its calls, and waits for its end. */
export async function cancelBatch({ client, terminal, json }: CommandContext, batchId: string, flags: CancelFlags): Promise<number> {
  const { reason, grace } = flags;
  const body = { reason, ...(grace === undefined ? {} : { graceMs: parseDuration(grace) }) };
  await client.batches.cancel(batchId, body);
  const batch = await client.batches.wait(batchId);
  if (json) terminal.json(batch);
  else for (const { index, callId, outcome, status } of batch.results) terminal.note(`${callId ?? `call ${index}`}: ${outcome ?? status}`);
  return 0;
}
