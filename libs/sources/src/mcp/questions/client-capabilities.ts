import type { ClientCapabilities } from '@modelcontextprotocol/client';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const FORMS: ClientCapabilities = { elicitation: { form: {}, url: {} }, extensions: { [TASKS_EXTENSION]: {} } };

/**
 * Capabilities that servers of a revision before 2026-07-28 read once, for all calls of the connection. A call whose client
 * offers no model refuses their question.
 */
export const CONNECTION_CAPABILITIES: ClientCapabilities = { ...FORMS, sampling: {} };

/** Capabilities that newer servers read with each call: a model only if the client of the call offers one. */
export function callCapabilities(sampling: boolean): ClientCapabilities {
  return sampling ? CONNECTION_CAPABILITIES : FORMS;
}
