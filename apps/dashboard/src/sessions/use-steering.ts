import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SessionMessages } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';

type Messages = SessionMessages['messages'];
const NONE: Messages = [];

/** Messages of people to the session, oldest first, with their delivery to the agent; reloaded after possible changes. */
export function useSteering(sessionId: string): Messages {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['steering', sessionId],
    queryFn: ({ signal }) => client.sessions.steering(sessionId, { signal }),
    staleTime: 0,
  });
  const isWaiting = data?.messages.some(({ taken }) => !taken) === true;
  useEffect(() => {
    const ask = () => void queries.invalidateQueries({ queryKey: ['steering', sessionId] });
    const stopNotices = feed.onNotice((notice) => notice.type === 'session.steered' && notice.sessionid === sessionId && ask());
    // An agent takes messages when its calls end.
    const stopEvents = isWaiting
      ? feed.listen((events) => {
          if (events.some((event) => event.sessionid === sessionId && event.type === 'call.end')) ask();
        })
      : () => {};
    return () => {
      stopNotices();
      stopEvents();
    };
  }, [feed, queries, sessionId, isWaiting]);
  return data?.messages ?? NONE;
}
