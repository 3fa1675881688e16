import type { CallToolResult, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { TASKS_EXTENSION } from '../questions/client-capabilities.js';
import { ServerTask } from './task.js';

/**
 * Lets results that are a task (revision 2026-07-28, `resultType: task`) through the client, which knows none: they become
 * results without content that carry the task.
 */
export function liftTasks<T extends Transport>(transport: T): T {
  let deliver: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => deliver,
    set: (next: Transport['onmessage']) => {
      deliver = next && ((message, extra) => next(lifted(message), extra));
    },
  });
  return transport;
}

/** The task that a `tools/call` was answered with. */
export function taskIn({ _meta }: Pick<CallToolResult, '_meta'>): ServerTask | undefined {
  return ServerTask.safeParse(_meta?.[TASKS_EXTENSION]).data;
}

function lifted<T extends JSONRPCMessage>(message: T): T {
  if (!('result' in message) || message.result['resultType'] !== 'task') return message;
  const { resultType: _type, ...task } = message.result;
  return { ...message, result: { resultType: 'complete', content: [], _meta: { [TASKS_EXTENSION]: task } } };
}
