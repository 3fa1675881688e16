import type { CallToolResult } from '@modelcontextprotocol/client';
import { TASKS_EXTENSION } from '../questions/client-capabilities.js';

const RESULT = 'io.toolyard/result';

/**
 * A result on its way through the client, which would refuse it for one odd part, and knows no tasks of revision
 * 2026-07-28 (`resultType: task`): a result without content that carries it.
 */
export function carryResult(result: unknown): CallToolResult & { readonly resultType: string } {
  return { resultType: 'complete', content: [], _meta: { [RESULT]: result ?? null } };
}

/** The result as its server wrote it. */
export function rawResult(result: CallToolResult): unknown {
  const { _meta: meta = {} } = result;
  return RESULT in meta ? meta[RESULT] : result;
}

export function carriedTask({ resultType: _type, ...task }: Readonly<Record<string, unknown>>): CallToolResult {
  return { resultType: 'complete', content: [], _meta: { [TASKS_EXTENSION]: task } };
}
