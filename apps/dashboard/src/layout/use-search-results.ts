import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { CallSummary, FacetValue, SessionSummary, ToolDescriptor } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';

const SETTLED_MS = 150;
const MOST = 5;
const AGENTS_MS = 30 * 24 * 3_600_000;

export interface SearchResults {
  readonly calls: readonly CallSummary[];
  readonly sessions: readonly SessionSummary[];
  readonly agents: readonly FacetValue[];
  readonly tools: readonly ToolDescriptor[];
}

/** Best hits for the typed text; without a text the newest calls and sessions. Asks only while the search is open. */
export function useSearchResults(words: string, isOpen: boolean): SearchResults {
  const { client } = useToolyard();
  const [settled] = useDebouncedValue(words, SETTLED_MS);
  const asked = settled === '' ? {} : { q: settled };
  const enabled = isOpen;
  const options = { enabled, placeholderData: keepPreviousData, retry: false } as const;
  const { data: sessions = [] } = useQuery({
    ...options,
    queryKey: ['found-sessions', settled],
    queryFn: async ({ signal }) => (await client.sessions.list({ ...asked, limit: MOST }, { signal })).sessions,
  });
  const { data: calls = [] } = useQuery({
    ...options,
    // A text without a letter or digit is refused.
    enabled: enabled && (settled === '' || /[\p{L}\p{N}]/u.test(settled)),
    queryKey: ['found-calls', settled],
    queryFn: async ({ signal }) => (await client.calls.list({ ...asked, limit: MOST }, { signal })).calls,
  });
  const { data: agents = [] } = useQuery({
    ...options,
    queryKey: ['found-agents'],
    queryFn: async ({ signal }) =>
      (await client.calls.facets({ since: new Date(Date.now() - AGENTS_MS).toISOString() }, { signal })).agentId,
    staleTime: 30_000,
  });
  const { data: tools = [] } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
  });
  const text = words.toLowerCase();
  const isIn = (hay: string) => text !== '' && hay.toLowerCase().includes(text);
  return {
    sessions,
    calls,
    agents: agents.filter(({ value }) => isIn(value)).slice(0, MOST),
    tools: tools.filter(({ name, label }) => isIn(`${name} ${label}`)).slice(0, MOST),
  };
}
