import type { CallEvent } from '#contracts';
import { CallStore, upcastEvent } from '#event-log';
import type { RedisConnection } from '#redis';
import { checkCall, checkHookRuns, checkUpdates, type CallCheck } from './check-call.js';
import { checkTenants } from './check-tenants.js';
import type { ClientHistories } from './client-histories.js';

/** Violations in the calls that clients got by answers, for a log that several test files share; the others are not read. */
export async function checkAnsweredCalls(redis: RedisConnection, histories: ClientHistories, options: CallCheck): Promise<string[]> {
  const store = new CallStore(redis);
  const ids = new Set(histories.history.accepted.map(({ callId }) => callId));
  const read = await Promise.all(
    [...ids].map(async (id): Promise<[string, CallEvent[]]> => [id, (await store.events(id)).map(({ json }) => upcastEvent(json))]),
  );
  const calls = new Map(read.filter(([, events]) => events.length > 0));
  return [
    ...histories.checkCalls({ calls }),
    ...checkTenants(calls),
    ...[...calls].flatMap(([id, events]) => [
      ...checkCall(id, events, options),
      ...checkUpdates(id, events, false),
      ...checkHookRuns(id, events),
    ]),
  ];
}
