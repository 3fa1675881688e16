import type { CallEvent } from '#contracts';

/** Counted bytes of a call while it is open; see `CallState`. */
export interface CountedCall {
  readonly openBytes: number;
  readonly stateBytes: number;
}

/** Violations in the counted bytes of a call: none after its End, before that all bytes stored beside the log. */
export function checkOpenBytes(callId: string, { openBytes, stateBytes }: CountedCall, events: readonly CallEvent[]): string[] {
  if (events.at(-1)?.type === 'call.end')
    return openBytes + stateBytes === 0 ? [] : [`open bytes of ${callId}: has ended and is counted with ${openBytes}, state ${stateBytes}`];
  if (openBytes === 0) return [];
  const state = events.reduce(afterEvent, 0);
  const least = state + events.reduce((sum, event) => sum + argumentBytes(event), 0);
  return [
    ...(stateBytes === state ? [] : [`open bytes of ${callId}: its state is counted with ${stateBytes}, the log says ${state}`]),
    ...(openBytes >= least ? [] : [`open bytes of ${callId}: is counted with ${openBytes}, and keeps ${least} beside the log`]),
  ];
}

/** Bytes of the last suspension and of the input to it. */
function afterEvent(before: number, { type, data }: CallEvent): number {
  if (type === 'call.input_requested' || (type === 'call.retry' && data.reason === 'suspended')) return data.state?.bytes ?? 0;
  return type === 'call.input_given' ? before + (data.stored?.bytes ?? 0) : before;
}

function argumentBytes({ type, data }: CallEvent): number {
  if (type === 'call.submitted') return data.argumentsRef?.bytes ?? 0;
  return type === 'call.approval_decided' ? (data.edited?.argumentsRef?.bytes ?? 0) : 0;
}
