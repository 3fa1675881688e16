import { useQuery } from '@tanstack/react-query';
import { escapeInvisible } from '#subject';
import { useToolyard } from '../stream/toolyard.js';
import { shortId } from './short-id.js';

/** `disk (schedule)`; the end of its id for a schedule without a name, or one that was removed. */
export function ScheduleName({ id }: { readonly id: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['schedule-names'],
    queryFn: ({ signal }) => client.schedules.list({ signal }),
    staleTime: 60_000,
  });
  const name = data?.find((schedule) => schedule.id === id)?.name ?? shortId(id);
  return <>{escapeInvisible(name)} (schedule)</>;
}
