import type { ApiKey, ApiKeyConfig, KeyRights } from '#contracts';
import type { KeyRecord } from './key-records.service.js';

/** API form of a key created over HTTP, without digests and people. */
export function keyView(record: KeyRecord, now = Date.now()): ApiKey {
  const { people: _people, tenantId: _tenant, secrets, ...shown } = record;
  const open = secrets.flatMap(({ until }) => (until !== undefined && Date.parse(until) > now ? [until] : []));
  const overlapUntil = open.toSorted().at(-1);
  const status = statusOf(record, now);
  return { ...shown, origin: 'api', status, ...(overlapUntil === undefined || status !== 'active' ? {} : { overlapUntil }) };
}

export function configKeyView(entry: ApiKeyConfig, now = Date.now()): ApiKey {
  return { ...rightsOf(entry), id: entry.id, origin: 'config', status: statusOf(entry, now) };
}

/** Rights of a key; absent ones are omitted. */
export function rightsOf({
  scopes,
  agent,
  agents,
  user,
  users,
  tools,
  dialect,
  ratePerMinute,
  expiresAt,
}: Pick<ApiKeyConfig, keyof KeyRights>): KeyRights {
  return { scopes, agent, agents, user, users, tools, dialect, ratePerMinute, expiresAt };
}

function statusOf(
  { revokedAt, expiresAt }: { revokedAt?: string | undefined; expiresAt?: string | undefined },
  now: number,
): ApiKey['status'] {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}
