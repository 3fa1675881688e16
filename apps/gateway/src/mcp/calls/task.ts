import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import type { Call } from '#contracts';
import { TASKS_EXTENSION, type ClientFeatures } from '../wire/client-features.js';
import { resultOf } from './call-result.js';
import type { Question } from './call-questions.service.js';

const POLL_MS = 1_000;

/**
 * Call as a task of the extension `io.modelcontextprotocol/tasks`: the task's id is the call's id, so it survives every
 * restart. `asked`: request to the client's user, if it may answer; `needsStructure` as for `resultOf`.
 */
export function taskOf(
  call: Call,
  asked: Question | undefined,
  needsStructure: boolean,
): Record<string, unknown> & { readonly status: string } {
  const { id, submittedAt, startedAt, endedAt, waiting } = call;
  const task = {
    taskId: id,
    createdAt: submittedAt,
    lastUpdatedAt: endedAt ?? startedAt ?? submittedAt,
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
  switch (call.status) {
    case 'waiting_approval':
    case 'waiting_input':
      if (asked !== undefined) {
        const inputRequests = { [asked.name]: asked.request };
        return { ...task, status: 'input_required', inputRequests };
      }
      if (call.status === 'waiting_approval') return { ...task, status: 'working', statusMessage: 'Waits for the approval of a person' };
      return { ...task, status: 'working', statusMessage: waiting?.detail ?? 'Waits for input' };
    case 'queued':
    case 'running':
      return { ...task, status: 'working', statusMessage: waiting?.detail ?? `The call is ${call.status}` };
    case 'ended':
      if (call.outcome === 'cancelled') return { ...task, status: 'cancelled', statusMessage: call.error?.message ?? 'Cancelled' };
      return { ...task, status: 'completed', result: { resultType: 'complete', ...resultOf(call, needsStructure) } };
    default:
      return call.status satisfies never;
  }
}

/** @throws MissingRequiredClientCapabilityError if the client did not declare tasks with this request */
export function assertTasks({ tasks }: ClientFeatures): void {
  if (!tasks) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}
