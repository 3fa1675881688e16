import { Badge, Group, Paper, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { AgentBudget, Call, CallEvent } from '#contracts';
import { durationText, clockText } from '../../components/duration.js';
import { ErrorState } from '../../components/states.js';
import { useRowKeys } from '../../components/use-row-keys.js';
import { useTool } from '../../components/use-subjects.js';
import { VisibleText } from '../../components/visible-text.js';
import { useScopes } from '../../stream/use-scopes.js';
import { useToolyard } from '../../stream/toolyard.js';
import { spentOf, turnsOf, type AgentTurn, type Spent } from './agent-turns.js';
import { CallLine } from '../../calls/call-line.js';
import classes from './agent-run.module.css';
import { useCallTree } from './use-call-tree.js';

interface AgentRunProps {
  readonly call: Call;
  readonly events: readonly CallEvent[];
}

/** Run of a sub-agent: its usage, and its turns with their calls. */
export function AgentRun({ call, events }: AgentRunProps) {
  const tree = useCallTree(call);
  const list = useRowKeys<HTMLDivElement>();
  const children = useMemo(() => tree.data?.calls.filter(({ parentCallId }) => parentCallId === call.id) ?? [], [tree.data, call.id]);
  const turns = useMemo(() => turnsOf(events, children), [events, children]);
  const spent = spentOf(turns, children, call.result?.details);
  return (
    <Stack gap="md" ref={list}>
      <Budgets spent={spent} limits={useLimits(call, events)} whole={call.result !== undefined} />
      {tree.isError && <ErrorState error={tree.error} onRetry={() => void tree.refetch()} />}
      {turns.length === 0 && (
        <Text size="sm" c="dimmed">
          {call.status === 'ended' ? 'Its model was never asked.' : 'Its model has not answered yet.'}
        </Text>
      )}
      {turns.map((turn) => (
        <Turn key={turn.turn} turn={turn} />
      ))}
    </Stack>
  );
}

function Turn({ turn }: { readonly turn: AgentTurn }) {
  const { usage, steering = 0, text } = turn;
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Turn ${turn.turn}`} data-turn={turn.turn}>
      {steering > 0 && (
        <Text size="sm" className={classes.steering}>
          {steering === 1 ? 'A message of a person' : `${steering} messages of people`} to the session came with this request.
        </Text>
      )}
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap="xs">
          <Title order={2} size="h3">
            Turn {turn.turn}
          </Title>
          <Badge variant="default" tt="none" size="sm">
            {turn.model}
          </Badge>
        </Group>
        <Text size="xs" c="dimmed">
          {usage.inputTokens.toLocaleString()} tokens read, {usage.outputTokens.toLocaleString()} written · {durationText(turn.tookMs)} ·{' '}
          {clockText(turn.at)}
        </Text>
      </Group>
      {text !== undefined && (
        <Text size="sm" className={classes.text}>
          <VisibleText text={text} />
        </Text>
      )}
      {turn.calls.map(({ toolCallId, tool, call }) =>
        call === undefined ? (
          <Text key={toolCallId} size="sm" c="dimmed" py={3}>
            {tool}: not submitted, or not in the list yet.
          </Text>
        ) : (
          <CallLine key={toolCallId} call={call} />
        ),
      )}
    </Paper>
  );
}

type Limits = Partial<AgentBudget> & { readonly turns?: number };

/** Limits of the run: the budget from the sub-agent above, and the limits of its definition if the key may read it. */
function useLimits(call: Call, events: readonly CallEvent[]): Limits {
  const { client } = useToolyard();
  const mayRead = useScopes().lacks('admin') === undefined;
  // A source that was removed has no limits to read.
  const isThere = useTool(call.tool)?.source === call.source;
  const source = useQuery({
    queryKey: ['source', call.source],
    queryFn: ({ signal }) => client.sources.get(call.source, { signal }),
    enabled: mayRead && isThere,
    staleTime: 60_000,
    retry: false,
  });
  const definition = source.data?.definition;
  const own: Limits = definition?.kind === 'agent' ? { turns: definition.maxTurns, ...definition.budgets } : {};
  const given = events.find((event) => event.type === 'call.submitted')?.data.agentBudget;
  if (given === undefined) return own;
  const least = (a: number | undefined, b: number) => (a === undefined ? b : Math.min(a, b));
  return {
    ...own,
    tokens: least(own.tokens, given.tokens),
    modelMs: least(own.modelMs, given.modelMs),
    calls: least(own.calls, given.calls),
  };
}

const STOPPED: Readonly<Record<string, string>> = {
  max_turns: 'It ended at its limit of turns, with what there was.',
  max_tokens: 'It ended at its limit of tokens, with what there was.',
  max_time: 'It ended at its limit of time, with what there was.',
  max_calls: 'It ended at its limit of calls, with what there was.',
};

function Budgets({ spent, limits, whole }: { readonly spent: Spent; readonly limits: Limits; readonly whole: boolean }) {
  const number = (value: number) => value.toLocaleString();
  return (
    <section aria-label="Budgets">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        <Budget name="Turns" used={spent.turns} limit={limits.turns} text={number} />
        <Budget name="Tokens" used={spent.tokens} limit={limits.tokens} text={number} />
        <Budget name="Calls" used={spent.calls} limit={limits.calls} text={number} />
        <Budget name="Model time" used={spent.modelMs} limit={limits.modelMs} text={durationText} />
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt={4}>
        {spent.stopped === undefined ? '' : (STOPPED[spent.stopped] ?? `It was stopped: ${spent.stopped}.`)}{' '}
        {whole ? 'What its own sub-agents used is counted.' : 'What its own sub-agents used is counted at its end.'}
      </Text>
    </section>
  );
}

interface BudgetProps {
  readonly name: string;
  readonly used: number;
  readonly limit: number | undefined;
  readonly text: (value: number) => string;
}

function Budget({ name, used, limit, text }: BudgetProps) {
  const share = limit === undefined || limit === 0 ? undefined : (100 * used) / limit;
  return (
    <Paper withBorder p="xs" data-budget={name}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" fw={600}>
        {text(used)}
        {limit !== undefined && (
          <Text span size="xs" c="dimmed" fw={400}>
            {' '}
            of {text(limit)}
          </Text>
        )}
      </Text>
      {share !== undefined && (
        <Progress
          size="xs"
          mt={4}
          value={Math.min(100, share)}
          color={share >= 100 ? 'red' : share >= 80 ? 'orange' : 'sky'}
          aria-label={`${name} used`}
        />
      )}
    </Paper>
  );
}
