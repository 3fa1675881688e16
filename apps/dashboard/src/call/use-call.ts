import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { changesCall } from '#contracts';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { CallView } from './call-view.js';

/** A call with all of its events. The call is reloaded when its state changes. */
export function useCall(callId: string) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const view = useMemo(() => new CallView(), [callId]);
  const [connection, setConnection] = useState<'connecting' | 'live' | 'reconnecting' | 'closed'>('connecting');
  const version = useFrames(view);
  const changes = useRef(0);
  const call = useQuery({
    queryKey: ['call', callId],
    // `invalidateQueries` does not repeat a first request in progress, so a response older than the events is requested again here.
    queryFn: async ({ signal }) => {
      for (;;) {
        const before = changes.current;
        const answer = await client.calls.get(callId, { signal });
        if (changes.current === before) return answer;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });

  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const read = async () => {
      for await (const item of client.watch({ callId }, { signal, onState: ({ state }) => signal.aborted || setConnection(state) })) {
        if (item.kind === 'event') {
          view.take(item.event);
          if (!changesCall(item.event.type)) continue;
          changes.current += 1;
          void queries.invalidateQueries({ queryKey: ['call', callId] });
        } else if (item.kind === 'gap') view.gap(item.gap.dropped);
        else {
          view.reset();
          for (const event of await client.calls.events(callId, { signal })) view.take(event);
        }
      }
    };
    // The stream's state has the error; the query has the call.
    read().catch(() => undefined);
    return () => stopping.abort();
  }, [client, queries, view, callId]);

  return { call, view, version, connection };
}
