import { z } from 'zod';
import { CallOutcome, CallStatus } from '#contracts';
import { STATES } from '../components/theme.js';
import { shownState, type CallRow } from './call-row.js';

export function resultLabel(value: string): string {
  return value === 'ok' ? 'OK' : value === 'error' ? 'Error' : value;
}

/** An invalid value of a link is shown unchanged, with its error. */
export function stateLabel(value: string): string {
  if (value === 'ended') return 'Ended';
  const state = z.union([CallStatus.exclude(['ended']), CallOutcome]).safeParse(value);
  return state.success ? STATES[state.data].label : value;
}

/** How many calls are in each state, such as `2 completed, 1 failed`. */
export function statesText(calls: readonly CallRow[]): string {
  const states = calls.map((call) => STATES[shownState(call)].label.toLowerCase());
  return [...new Set(states)].map((name) => `${states.filter((state) => state === name).length} ${name}`).join(', ');
}
