import type { HookRunData } from '#contracts';
import { upcastEvent, type CallStore } from '#event-log';

/** Numbers hook runs after those that the call's events have: they are counted from its submission on. */
export async function numberAfterEvents(
  calls: CallStore,
  callId: string,
  hookRuns: readonly HookRunData[],
): Promise<readonly HookRunData[]> {
  if (hookRuns.length === 0) return hookRuns;
  const before = (await calls.events(callId)).map(({ json }) => upcastEvent(json));
  const last = Math.max(0, ...before.map((event) => (event.type === 'call.hook' ? event.data.run : 0)));
  return hookRuns.map((step) => ({ ...step, run: step.run + last }));
}
