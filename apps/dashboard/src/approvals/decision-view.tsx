import { Badge, List, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { Approval, Decision } from '#contracts';
import { actorText, escapeInvisible } from '#subject';
import { momentText } from '../components/duration.js';
import stacked from '../components/stacked.module.css';

const COLORS = { allow: 'teal', ask: 'yellow', deny: 'red' } as const;
const AXES = { facts: 'Tool and posture', risk: 'Arguments', grants: 'Grants', limits: 'Limits', hooks: 'Hooks' } as const;

/** The decision about a call with the reasons of every rule, and a person's decision. */
export function DecisionView({ decision, approval }: { readonly decision: Decision; readonly approval?: Approval | undefined }) {
  return (
    <Stack gap="md">
      <div>
        <Text component="div" mb="xs">
          Verdict: <Effect effect={decision.effect} />
        </Text>
        {decision.reasons.length === 0 ? (
          <Text size="sm" c="dimmed">
            No rule applies, so it may run.
          </Text>
        ) : (
          <Table.ScrollContainer minWidth={520} className={stacked['stacked']}>
            <Table verticalSpacing={6} aria-label="Answers of the rules">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Answer</Table.Th>
                  <Table.Th>Checks</Table.Th>
                  <Table.Th>Rule</Table.Th>
                  <Table.Th>Why</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {decision.reasons.map((reason, index) => (
                  <Table.Tr key={index}>
                    <Table.Td>
                      <Effect effect={reason.effect} />
                    </Table.Td>
                    <Table.Td>{AXES[reason.axis]}</Table.Td>
                    <Table.Td>
                      <code>{reason.rule}</code>
                    </Table.Td>
                    <Table.Td data-line>
                      {escapeInvisible(reason.reason)}
                      {reason.satisfiedBy !== undefined && (
                        <Text size="xs" c="dimmed">
                          answered already by {escapeInvisible(reason.satisfiedBy)}
                        </Text>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </div>
      {approval && (
        <Paper withBorder p="sm">
          <Title order={3} mb={4}>
            Approval
          </Title>
          <Text size="sm">
            Asked {momentText(Date.parse(approval.requestedAt))}, because: {escapeInvisible(approval.reasons.join('; '))}
          </Text>
          {approval.decided ? (
            <Text size="sm">
              <strong>{approval.decided.decision === 'allow' ? 'Allowed' : 'Denied'}</strong> by{' '}
              {actorText(approval.decided.by, approval.decided.byName)} {momentText(Date.parse(approval.decided.at))} (
              {approval.decided.scope}
              {approval.decided.trustOption === undefined ? '' : `, ${approval.decided.trustOption}`})
              {approval.decided.reason === undefined ? '' : `: ${escapeInvisible(approval.decided.reason)}`}
            </Text>
          ) : (
            <Text size="sm">Not answered yet; expires {momentText(Date.parse(approval.expiresAt))}.</Text>
          )}
          {approval.decided?.edited && (
            <List size="sm" aria-label="Edited arguments" mt={4}>
              {approval.decided.edited.changes.map(({ pointer, before = 'nothing', after = 'nothing' }) => (
                <List.Item key={pointer}>
                  <code>{escapeInvisible(pointer)}</code>: {escapeInvisible(before)} → {escapeInvisible(after)}
                </List.Item>
              ))}
            </List>
          )}
        </Paper>
      )}
    </Stack>
  );
}

function Effect({ effect }: { readonly effect: Decision['effect'] }) {
  return (
    <Badge variant="dot" color={COLORS[effect]} tt="none" miw="max-content">
      {effect}
    </Badge>
  );
}
