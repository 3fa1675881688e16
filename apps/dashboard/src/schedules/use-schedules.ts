import { useQuery } from '@tanstack/react-query';
import { useToolyard } from '../stream/toolyard.js';

const ASK_MS = 3000;

/** All schedules of the tenant. No event tells of a due time that made no call, so the list is loaded again and again. */
export function useSchedules() {
  const { client } = useToolyard();
  return useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => client.schedules.list({ signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
}
