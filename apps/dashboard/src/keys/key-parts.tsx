import { Badge, Group, Text } from '@mantine/core';
import type { ApiKey } from '#contracts';
import { escapeInvisible } from '#subject';
import { durationText, momentText } from '../components/duration.js';
import { Ago, useNow } from '../components/time.js';

const SOON_MS = 7 * 86_400_000;
const STATES = { active: 'teal', expired: 'gray', revoked: 'red' } as const satisfies Record<ApiKey['status'], string>;

export function keyNameOf({ name, id }: ApiKey): string {
  return escapeInvisible(name ?? id);
}

/** State of a key and the time until which it is accepted. */
export function KeyState({ apiKey: { status, expiresAt, revokedAt, overlapUntil } }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  const left = expiresAt === undefined ? undefined : Date.parse(expiresAt) - now;
  return (
    <>
      <Badge variant="dot" color={STATES[status]} tt="none" miw="max-content" data-key-status={status}>
        {status}
      </Badge>
      {status === 'active' && left !== undefined && (
        <Text size="xs" {...(left < SOON_MS ? { fw: 600 } : { c: 'dimmed' })}>
          {left < SOON_MS
            ? `ends in ${durationText(left)}`
            : `until ${momentText(now + left)
                .split(', ')
                .slice(0, -1)
                .join(', ')}`}
        </Text>
      )}
      {status === 'active' && overlapUntil !== undefined && (
        <Text size="xs">the text before works for {durationText(Date.parse(overlapUntil) - now)}</Text>
      )}
      {revokedAt !== undefined && (
        <Text size="xs" c="dimmed">
          <Ago at={Date.parse(revokedAt)} />
        </Text>
      )}
    </>
  );
}

/** Scopes of a key, and its limits. */
export function KeyRights({ apiKey: { scopes, agent, agents, user, users, tools, ratePerMinute } }: { readonly apiKey: ApiKey }) {
  const bounds = [
    agent !== undefined && `agent ${agent}`,
    agents !== undefined && `agents ${agents.join(', ')}`,
    user !== undefined && `user ${user}`,
    users !== undefined && `users ${users.join(', ')}`,
    tools !== undefined && `tools ${tools.join(', ')}`,
    ratePerMinute !== undefined && `${ratePerMinute.toLocaleString()} requests a minute`,
  ].filter((bound) => bound !== false);
  return (
    <>
      <Group gap={4}>
        {scopes.map((scope) => (
          <Badge key={scope} size="sm" variant={WIDE.has(scope) ? 'light' : 'default'} color="orange" tt="none">
            {scope}
          </Badge>
        ))}
      </Group>
      {bounds.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }} mt={2}>
          {escapeInvisible(bounds.join(' · '))}
        </Text>
      )}
    </>
  );
}

/** Scopes that change the evaluation, or reach all tenants. */
const WIDE: ReadonlySet<string> = new Set(['admin', 'operate']);

/** The person, where one had signed in; else the key. */
export function KeyCreator({ apiKey: { origin, createdAt, createdBy, createdByName } }: { readonly apiKey: ApiKey }) {
  if (origin === 'config') return <Text size="sm">config file</Text>;
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }} data-made-by>
        {escapeInvisible(createdByName ?? createdBy ?? '')}
      </Text>
      {createdAt !== undefined && (
        <Text size="xs" c="dimmed">
          <Ago at={Date.parse(createdAt)} />
        </Text>
      )}
    </>
  );
}
