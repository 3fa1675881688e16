import type { HookRunData } from '#contracts';
import { upcastEvent, type CallStore } from '#event-log';

/** Number of the last hook run in the call's events, counted from its submission; 0 for none. */
export async function lastHookRun(calls: CallStore, callId: string): Promise<number> {
  const before = (await calls.events(callId)).map(({ json }) => upcastEvent(json));
  return Math.max(0, ...before.map((event) => (event.type === 'call.hook' ? event.data.run : 0)));
}

/** Numbers hook runs after those in the call's events. */
export async function numberAfterEvents(
  calls: CallStore,
  callId: string,
  hookRuns: readonly HookRunData[],
): Promise<readonly HookRunData[]> {
  if (hookRuns.length === 0) return hookRuns;
  const last = await lastHookRun(calls, callId);
  return hookRuns.map((step) => ({ ...step, run: step.run + last }));
}
