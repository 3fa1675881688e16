import { useQuery } from '@tanstack/react-query';
import { useToolyard } from '../stream/toolyard.js';

const ASK_MS = 3000;

/** All schedules of the tenant, reloaded at intervals, since no event reports a due time without a call. */
export function useSchedules() {
  const { client } = useToolyard();
  return useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => client.schedules.list({ signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
}
