import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import type { Call } from '#contracts';
import { coalesce } from '../components/coalesce.js';
import { useToolyard } from '../stream/toolyard.js';

const PAGE = 200;
/** The most calls that are loaded: the newest, or those of the highest risk. Others are shown once these are decided. */
export const MOST_WAITING = 1000;

const NONE: readonly Call[] = [];

/**
 * Pending approvals, oldest first, so that none expires unseen, or the highest risk first; reloaded when an event changes them, one
 * request at a time. `sort` of the answer: that of its calls, which are those of the last order until the new ones are there.
 */
export function useWaitingCalls(sort?: 'risk') {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ['approvals', sort ?? 'oldest'],
    queryFn: async ({ signal }) => {
      const calls: Call[] = [];
      for (let cursor: string | undefined; calls.length < MOST_WAITING;) {
        const which = { limit: PAGE, ...(sort && { sort }), ...(cursor === undefined ? {} : { cursor }) };
        const page = await client.approvals.list(which, { signal });
        calls.push(...page.calls);
        cursor = page.nextCursor;
        if (cursor === undefined) return { calls, sort, hasMore: false };
      }
      return { calls, sort, hasMore: true };
    },
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
  const { refetch, data } = query;
  const waiting = useRef(new Set<string>());
  useEffect(() => {
    waiting.current = new Set(data?.calls.map(({ id }) => id));
  }, [data]);
  useEffect(() => {
    const ask = coalesce(async () => {
      // A request that is under way, as when the page opens, may have begun before the event: another one follows it.
      const isUnderWay = queries.isFetching({ queryKey: ['approvals', sort ?? 'oldest'] }) > 0;
      await refetch({ cancelRefetch: false });
      if (isUnderWay) await refetch({ cancelRefetch: false });
    });
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
  }, [feed, queries, refetch, sort]);
  const calls = useMemo(() => {
    const waits = data?.calls.filter(({ status }) => status === 'waiting_approval') ?? NONE;
    return data?.sort === 'risk' ? waits : waits.toReversed();
  }, [data]);
  return { query, calls, sort: data?.sort, hasMore: data?.hasMore === true };
}
