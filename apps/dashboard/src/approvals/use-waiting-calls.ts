import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import type { Call } from '#contracts';
import { coalesced } from '../components/coalesced.js';
import { useToolyard } from '../stream/toolyard.js';

const PAGE = 200;
/** The most calls that are loaded; the oldest are shown once newer ones are decided. */
export const MOST_WAITING = 1000;

const NONE: readonly Call[] = [];

/** Pending approvals, oldest first, so that none expires unseen; reloaded when an event changes them, one request at a time. */
export function useWaitingCalls() {
  const { client, feed } = useToolyard();
  const query = useQuery({
    queryKey: ['approvals'],
    queryFn: async ({ signal }) => {
      const calls: Call[] = [];
      for (let cursor: string | undefined; calls.length < MOST_WAITING;) {
        const page = await client.approvals.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }, { signal });
        calls.push(...page.calls);
        cursor = page.nextCursor;
        if (cursor === undefined) return { calls, hasMore: false };
      }
      return { calls, hasMore: true };
    },
    staleTime: 0,
  });
  const { refetch, data } = query;
  const waiting = useRef(new Set<string>());
  useEffect(() => {
    waiting.current = new Set(data?.calls.map(({ id }) => id));
  }, [data]);
  useEffect(() => {
    const ask = coalesced(() => refetch({ cancelRefetch: false }));
    const stopEvents = feed.listen((events) => {
      const isChange = events.some(
        ({ type, subject }) => type.startsWith('call.approval') || (type === 'call.end' && waiting.current.has(subject)),
      );
      if (isChange) ask();
    });
    const stopLive = feed.onLive(ask);
    return () => {
      stopEvents();
      stopLive();
    };
  }, [feed, refetch]);
  const calls = useMemo(() => data?.calls.filter(({ status }) => status === 'waiting_approval').toReversed() ?? NONE, [data]);
  return { query, calls, hasMore: data?.hasMore === true };
}
