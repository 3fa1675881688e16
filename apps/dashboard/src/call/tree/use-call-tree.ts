import { useQuery } from '@tanstack/react-query';
import type { Call, CallSummary } from '#contracts';
import { useMemo } from 'react';
import { previewOf } from '../../calls/call-row.js';
import { useToolyard } from '../../stream/toolyard.js';

const ASK_MS = 1500;
const PAGE = 200;
const MOST_CALLS = 2000;

/** All calls below the root of the tree that the call is in, and whether there are more than are loaded. */
export function useCallTree(call: Call) {
  const { client } = useToolyard();
  const rootCallId = call.rootCallId ?? call.id;
  return useQuery({
    queryKey: ['call-tree', rootCallId, call.status],
    queryFn: async ({ signal }) => {
      const calls: CallSummary[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.calls.list({ rootCallId, limit: PAGE, cursor }, { signal });
        calls.push(...page.calls);
        cursor = page.nextCursor;
      } while (cursor !== undefined && calls.length < MOST_CALLS);
      return { calls, isWhole: cursor === undefined };
    },
    // The list may be a moment behind the End of the call.
    refetchInterval: ({ state }) => (isMoving(call, state.data?.calls ?? []) ? ASK_MS : false),
    placeholderData: (before) => before,
  });
}

/** A call without any below it is asked about again only where it waits for some, or is a sub-agent. */
function isMoving(call: Call, below: readonly CallSummary[]): boolean {
  if (call.status !== 'ended') return below.length > 0 || call.source === call.tool || call.waiting?.reason === 'suspended';
  return below.some(({ status }) => status !== 'ended');
}

/** The call at the top of the tree, as lists show it; undefined until it is loaded. */
export function useTreeRoot(call: Call): CallSummary | undefined {
  const { client } = useToolyard();
  const rootCallId = call.rootCallId ?? call.id;
  const { data } = useQuery({
    queryKey: ['call', rootCallId],
    queryFn: ({ signal }) => client.calls.get(rootCallId, { signal }),
    enabled: rootCallId !== call.id,
  });
  const root = rootCallId === call.id ? call : data;
  return useMemo(() => root && summaryOf(root), [root]);
}

function summaryOf(call: Call): CallSummary {
  const { startedAt, endedAt } = call;
  return {
    ...call,
    pool: 'agent',
    retrying: false,
    preview: previewOf(call.arguments) ?? '',
    ...(startedAt === undefined || endedAt === undefined ? {} : { runMs: Date.parse(endedAt) - Date.parse(startedAt) }),
  };
}
