import { z } from 'zod';
import { keysOf } from '../values/keys-of.js';
import { SubmittedData } from './submission.events.js';
import { ApprovalRequestedData, ApprovalDecidedData } from './approval.events.js';
import { StartData, UpdateData, ProgressData, HookRunData, TurnData } from './attempt.events.js';
import { RetryData, InputRequestedData, InputGivenData } from './suspension.events.js';
import { CancelRequestedData, EndData } from './end.events.js';

export const CALL_EVENT_DATA = {
  'call.submitted': SubmittedData,
  'call.approval_requested': ApprovalRequestedData,
  'call.approval_decided': ApprovalDecidedData,
  'call.start': StartData,
  'call.update': UpdateData,
  'call.progress': ProgressData,
  'call.hook': HookRunData,
  'call.turn': TurnData,
  'call.retry': RetryData,
  'call.input_requested': InputRequestedData,
  'call.input_given': InputGivenData,
  'call.cancel_requested': CancelRequestedData,
  'call.end': EndData,
} as const;

export type CallEventType = keyof typeof CALL_EVENT_DATA;
export const CALL_EVENT_TYPES = keysOf(CALL_EVENT_DATA);
export const CallEventType = z.enum(CALL_EVENT_TYPES).meta({ id: 'CallEventType', description: 'What happened to a call.' });

/** False for events that do not change the state of a call: a fold may skip them. */
export function changesCall(type: CallEventType): boolean {
  return type !== 'call.update' && type !== 'call.progress' && type !== 'call.hook' && type !== 'call.turn';
}

export type CallEventData<T extends CallEventType> = z.output<(typeof CALL_EVENT_DATA)[T]>;
