import { Risk } from '#contracts';
import type { RedisConnection } from '#redis';
import type { CallStore } from './call-store.js';
import type { PendingApprovalPage } from './pending-approval-list.js';
import { decodePlace, encodePlace, oldestFirst, PartitionWalk, type Place, takeInOrder } from './pending-approval-walk.js';

/**
 * Most waiting calls that are read for one page and risk, over all partitions. The risk is in the events, so each risk needs
 * its own walk.
 */
const EXAMINED = 5_000;

/** Risks, highest first; calls of releases without risks come last. */
const RANKS: readonly (Risk | undefined)[] = [...Risk.options.toReversed(), undefined];

interface RankedPlace {
  readonly rank: number;
  readonly place: Place;
}

interface ByRisk {
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** Restricts to calls of these risks. Absent: all. */
  readonly risk?: readonly Risk[] | undefined;
}

/**
 * Lists the calls of one tenant that wait for a person: highest risk first, then oldest first. The sets contain no risk, so
 * they are walked once for each. The cursor is a risk and a place in the sets, both fixed for a call: pages contain each call
 * that keeps waiting exactly once. A page may be short, even empty, and still have a cursor.
 *
 * @throws ProblemError `invalid_request` for a cursor of another list
 */
export async function listPendingApprovalsByRisk(
  redis: RedisConnection,
  store: Pick<CallStore, 'readSummaries'>,
  partitions: readonly string[],
  tenantId: string,
  { cursor, limit, risk: risks }: ByRisk,
): Promise<PendingApprovalPage> {
  const after = cursor === undefined ? undefined : decodeRanked(cursor);
  const risksOf = rememberRisks(store);
  const budget = { left: EXAMINED };
  const found: RankedPlace[] = [];
  for (const [rank, risk] of RANKS.entries()) {
    if (rank < (after?.rank ?? 0) || (risks !== undefined && (risk === undefined || !risks.includes(risk)))) continue;
    const place = rank === after?.rank ? after.place : undefined;
    const areWanted = async (callIds: readonly string[]) => (await risksOf(callIds)).map((each) => each === risk);
    const walks = partitions.map(
      (partition) => new PartitionWalk({ redis, partition, tenantId, compare: oldestFirst, after: place, areWanted }),
    );
    const { places, unread } = await takeInOrder(walks, oldestFirst, limit + 1 - found.length, budget);
    found.push(...places.map((each) => ({ rank, place: each })));
    if (found.length > limit) return pageOf(found.slice(0, limit), found[limit - 1]);
    if (unread !== undefined) return pageOf(found, { rank, place: unread });
  }
  return pageOf(found, undefined);
}

/** Reads each call once, however often its set is walked. */
function rememberRisks(store: Pick<CallStore, 'readSummaries'>) {
  const riskByCall = new Map<string, Risk | undefined>();
  return async (callIds: readonly string[]): Promise<(Risk | undefined)[]> => {
    const missing = callIds.filter((callId) => !riskByCall.has(callId));
    const calls = await store.readSummaries(missing);
    for (const [n, callId] of missing.entries()) riskByCall.set(callId, calls[n]?.risk);
    return callIds.map((callId) => riskByCall.get(callId));
  };
}

function pageOf(found: readonly RankedPlace[], end: RankedPlace | undefined): PendingApprovalPage {
  const callIds = found.map(({ place }) => place.callId);
  return { callIds, ...(end === undefined ? {} : { nextCursor: `${end.rank}.${encodePlace(end.place)}` }) };
}

function decodeRanked(text: string): RankedPlace {
  const [, rank, place] = /^([0-3])\.(.+)$/.exec(text) ?? [];
  // `decodePlace` rejects a malformed cursor.
  return { rank: Number(rank), place: decodePlace(place ?? '') };
}
