import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ToolyardClient } from '#client';
import { isStillSignedIn } from '../session/use-login.js';
import { LiveStats } from './live-stats.js';
import { persistLiveStats } from './persist-live-stats.js';
import { Feed } from './feed.js';

export interface ToolyardParts {
  readonly client: ToolyardClient;
  /** The one event stream of the page. */
  readonly feed: Feed;
  /** Current and recent figures, kept on every page. */
  readonly board: LiveStats;
}

const Parts = createContext<ToolyardParts | undefined>(undefined);

/** Provides the client and the event stream for a key, or without one for the login of the browser's cookie. */
export function ToolyardProvider({ apiKey, children }: { readonly apiKey: string | undefined; readonly children: ReactNode }) {
  const queries = useQueryClient();
  const [parts] = useState((): ToolyardParts => {
    const isLogin = apiKey === undefined;
    const client = new ToolyardClient({ baseUrl: location.origin, ...(isLogin ? { login: true } : { apiKey }) });
    return { client, feed: new Feed(client, isLogin ? () => isStillSignedIn(queries) : undefined), board: new LiveStats() };
  });
  useEffect(() => {
    const stopListening = parts.feed.listen((events) => parts.board.fold(events));
    const stopBoard = persistLiveStats(parts);
    const stopFeed = parts.feed.start();
    return () => {
      stopFeed();
      stopBoard();
      stopListening();
    };
  }, [parts]);
  return <Parts value={parts}>{children}</Parts>;
}

export function useToolyard(): ToolyardParts {
  const parts = useContext(Parts);
  if (parts === undefined) throw new Error('useToolyard needs a ToolyardProvider above it');
  return parts;
}
