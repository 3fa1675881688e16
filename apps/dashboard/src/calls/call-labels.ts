import { z } from 'zod';
import { CallOutcome, CallStatus } from '#contracts';
import { STATES } from '../components/theme.js';

export function resultLabel(value: string): string {
  return value === 'ok' ? 'OK' : value === 'error' ? 'Error' : value;
}

/** An invalid value of a link is shown unchanged, with its error. */
export function stateLabel(value: string): string {
  if (value === 'ended') return 'Ended';
  const state = z.union([CallStatus.exclude(['ended']), CallOutcome]).safeParse(value);
  return state.success ? STATES[state.data].label : value;
}
