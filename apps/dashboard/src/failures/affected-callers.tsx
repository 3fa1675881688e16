import { Text, Tooltip } from '@mantine/core';
import type { FailureGroup } from '#contracts';
import { LinkAnchor } from '../components/links.js';
import { escapeInvisible } from '#subject';

/** Affected callers: the agent and the session if there is only one, otherwise their numbers. */
export function AffectedCallers({ agents, sessions }: Pick<FailureGroup, 'agents' | 'sessions'>) {
  const [session] = sessions.names;
  return (
    <>
      <Names {...agents} one="agent" />
      {sessions.count === 1 && session !== undefined ? (
        <LinkAnchor size="xs" to="/sessions/$sessionId" params={{ sessionId: session }} style={{ overflowWrap: 'anywhere' }}>
          {escapeInvisible(session)}
        </LinkAnchor>
      ) : (
        <Names {...sessions} one="session" />
      )}
    </>
  );
}

function Names({ count, names, one }: FailureGroup['agents'] & { readonly one: string }) {
  if (count === 0) return null;
  const all = names.map(escapeInvisible).join(', ') + (count > names.length ? ` and ${(count - names.length).toLocaleString()} more` : '');
  return (
    <Tooltip label={all}>
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {count === 1 ? all : `${count.toLocaleString()} ${one}s`}
      </Text>
    </Tooltip>
  );
}
