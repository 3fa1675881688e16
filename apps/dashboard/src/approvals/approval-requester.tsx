import { Text } from '@mantine/core';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import { LinkAnchor } from '../components/links.js';
import { Ago } from '../components/time.js';

/** Labels with the subject of a session. */
const GOALS = ['goal', 'task', 'title', 'issue', 'step'];

/** Caller of an approval or input: agent, session, user and time; then the purpose, from the agent or a label. */
export function ApprovalRequester({ call }: { readonly call: Call }) {
  const { agentId, sessionId, userId, purpose, labels } = call;
  const goal = GOALS.find((name) => labels[name] !== undefined);
  return (
    <>
      <Text component="div" size="sm" c="dimmed">
        <strong>{agentId ?? 'An agent'}</strong> asks
        {sessionId !== undefined && (
          <>
            {' in session '}
            <LinkAnchor size="sm" underline="always" to="/sessions/$sessionId" params={{ sessionId }}>
              {sessionId}
            </LinkAnchor>
          </>
        )}
        {userId !== undefined && ` for ${userId}`} ·{' '}
        <Ago at={Date.parse(call.approval?.requestedAt ?? call.waiting?.input?.requestedAt ?? call.submittedAt)} />
      </Text>
      {purpose !== undefined && <Text size="sm">The agent says: “{escapeInvisible(purpose)}”</Text>}
      {goal !== undefined && (
        <Text size="sm">
          <Text span inherit c="dimmed">
            {goal}:
          </Text>{' '}
          {escapeInvisible(labels[goal] ?? '')}
        </Text>
      )}
    </>
  );
}
