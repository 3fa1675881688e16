import type { RedisConnection } from '#redis';
import { decodePlace, encodePlace, newestFirst, PartitionWalk, takeInOrder } from './pending-approval-walk.js';

/** Most waiting calls that are read for one page, over all partitions. */
const EXAMINED = 20_000;

export interface PendingApprovalPage {
  readonly callIds: readonly string[];
  readonly nextCursor?: string;
}

/**
 * Lists the calls of one tenant that wait for a person, newest first, from the sets that apply-transitions.lua writes. A set
 * has the calls of all tenants: a page reads at most 20,000 of them and may be short, even empty, and still have a cursor.
 *
 * @throws ProblemError `invalid_request` for a cursor of another list
 */
export async function listPendingApprovals(
  redis: RedisConnection,
  partitions: readonly string[],
  tenantId: string,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<PendingApprovalPage> {
  const after = cursor === undefined ? undefined : decodePlace(cursor);
  const walks = partitions.map((partition) => new PartitionWalk({ redis, partition, tenantId, compare: newestFirst, after }));
  const { places, unread } = await takeInOrder(walks, newestFirst, limit + 1, { left: EXAMINED });
  const pagePlaces = places.slice(0, limit);
  const end = places.length > limit ? pagePlaces.at(-1) : unread;
  return { callIds: pagePlaces.map(({ callId }) => callId), ...(end === undefined ? {} : { nextCursor: encodePlace(end) }) };
}
