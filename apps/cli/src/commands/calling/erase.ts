import { setTimeout as sleep } from 'node:timers/promises';
import type { Erasure } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { UsageError } from '../../usage-error.js';
import { bulk, type BulkFlags } from './bulk.js';

export interface EraseFlags extends BulkFlags {
  readonly wait: boolean;
}

/** A segment is closed, archived and trimmed; the youngest events stay in Redis for 15 s. */
const DEADLINE_MS = 60_000;
const PERIOD_MS = 1_000;

/** Erases calls by their ids or by filters, and waits until all copies are deleted. Lists unreachable copies. */
export async function erase(context: CommandContext, callIds: readonly string[], flags: EraseFlags): Promise<number> {
  const { wait, ...filters } = flags;
  if (callIds.length === 0) return bulk(context, 'erase', filters);
  const { reason, dryRun, yes, ...given } = filters;
  if (Object.keys(given).length > 0 || dryRun === true || yes === true) throw new UsageError('Expected call ids, or filters, and not both');
  const { client, terminal, json } = context;
  const body = reason === undefined ? {} : { reason };
  const deadline = Date.now() + DEADLINE_MS;
  const erasures: Erasure[] = [];
  for (const callId of callIds) erasures.push(await client.calls.erase(callId, body));
  for (const [index, callId] of callIds.entries()) {
    let now = erasures[index] ?? (await client.calls.erase(callId, body));
    for (
      ;
      now.state === 'pending' && wait && Date.now() < deadline && !context.interrupts.happened;
      now = await client.calls.erase(callId, body)
    ) {
      terminal.showStatus(`${callId}: leaves Redis when it is archived`);
      await sleep(PERIOD_MS);
    }
    erasures[index] = now;
    if (json) terminal.json(now);
    else terminal.line(`${callId}: ${now.state}${now.fault === undefined ? '' : `: ${now.fault}`}`);
  }
  if (!json) {
    terminal.note('Not reached:');
    for (const place of erasures[0]?.notReached ?? []) terminal.note(`  ${place}`);
  }
  return erasures.every(({ state }) => state === 'done' || (!wait && state === 'pending')) ? EXIT.completed : EXIT.failed;
}
