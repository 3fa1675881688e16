import { Alert, Badge, Button, Checkbox, Code, Grid, Group, Paper, Stack, Tabs, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { z } from 'zod';
import type { ToolDescriptor, ToolExample, Violation } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { ArgumentViolations } from '../components/argument-violations.js';
import { Arguments, ArgumentsEditor } from '../components/arguments-editor.js';
import { durationText } from '../components/duration.js';
import { Json } from '../components/json.js';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { LastRuns } from './last-runs.js';
import { TryResult } from './try-result.js';

const route = getRouteApi('/tools/$tool');

/** Page of a tool: its arguments, its facts, and a form to call it. */
export function ToolPage() {
  const { tool: name } = route.useParams();
  const { client } = useToolyard();
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools.list({}, { signal }), staleTime: 60_000 });
  const tool = tools.data?.find((each) => each.name === name || each.aliases.includes(name));
  if (tools.isPending) return <LoadingRows />;
  if (tools.isError) return <ErrorState error={tools.error} onRetry={() => void tools.refetch()} />;
  if (tool === undefined)
    return (
      <EmptyState
        whole
        title={`There is no tool ${escapeInvisible(name)}`}
        action={
          <LinkButton to="/tools" variant="default" size="xs" mt="xs">
            All tools
          </LinkButton>
        }
      >
        It may have been renamed, or your key may not use it.
      </EmptyState>
    );
  return (
    <>
      <PageHead title={tool.name} about={tool.label}>
        <LinkButton to="/calls" search={{ tool: tool.name }} size="xs" variant="default">
          Its calls
        </LinkButton>
      </PageHead>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <TryIt key={tool.name} tool={tool} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <ToolFacts tool={tool} />
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Calls of the form share a session, and so a workspace and a persistent shell. */
const TRY_SESSION = 'try-it';

/** `file_write example/notes.md`. */
function stepText({ tool, arguments: args }: NonNullable<ToolExample['setup']>[number]): string {
  const { path } = args;
  return `${tool} ${typeof path === 'string' ? path : subjectText(JSON.stringify(args))}`;
}

function TryIt({ tool }: { readonly tool: ToolDescriptor }) {
  const { client } = useToolyard();
  const [tried, setTried] = useState<string>();
  const [example, setExample] = useState(tool.examples[0]);
  const [prepare, setPrepare] = useState(true);
  const [value, setValue] = useState<unknown>(tool.examples[0]?.arguments ?? {});
  const [sessionId, setSessionId] = useState(TRY_SESSION);
  const [violations, setViolations] = useState<readonly Violation[]>([]);
  const setup = example?.setup ?? [];
  const args = Arguments.safeParse(value);
  const submit = useMutation({
    mutationFn: async (valid: z.output<typeof Arguments>) => {
      const inSession = sessionId === '' ? {} : { sessionId };
      const submission = { tool: tool.name, arguments: valid, ...inSession };
      const quote = await client.calls.quote(submission);
      setViolations(quote.errors);
      if (!quote.valid) return undefined;
      for (const step of prepare ? setup : []) {
        const prepared = await client.calls.run({ ...step, ...inSession });
        if (prepared.ok !== true) return prepared;
      }
      return client.calls.submit(submission);
    },
    onSuccess: (call) => call && setTried(call.id),
    onError: (error) => notifyError('The call was not submitted', error),
  });
  const actions = (
    <>
      <ArgumentViolations violations={violations} />
      {setup.length > 0 && (
        <Checkbox
          mt="md"
          size="xs"
          checked={prepare}
          onChange={({ currentTarget }) => setPrepare(currentTarget.checked)}
          label={`First ${setup.map(stepText).join(', ')}, which this example needs`}
        />
      )}
      <Group justify="space-between" mt="md" align="flex-end">
        <TextInput
          size="xs"
          label="Session"
          placeholder="none"
          value={sessionId}
          onChange={({ currentTarget }) => setSessionId(currentTarget.value.trim())}
        />
        <ScopedButton
          scope="submit"
          whyNot={
            tool.available.ok ? (args.success ? undefined : 'The arguments are no JSON object yet.') : 'The tool is not available now.'
          }
          type="submit"
          loading={submit.isPending}
        >
          Call {tool.name}
        </ScopedButton>
      </Group>
    </>
  );
  return (
    <>
      <Paper withBorder p="md">
        <Title order={2} mb="sm">
          Try it
        </Title>
        {!tool.available.ok && (
          <Alert color="orange" mb="sm" title="Not available now">
            {tool.available.reason}
          </Alert>
        )}
        {tool.tier !== 'read_only' && (
          <Alert color="yellow" mb="sm" variant="light">
            This tool changes things. What it does here is real.
          </Alert>
        )}
        <ArgumentsEditor
          tool={tool.name}
          value={value}
          onChange={setValue}
          onSubmit={() => args.success && submit.mutate(args.data)}
          violations={violations}
        >
          {actions}
        </ArgumentsEditor>
        {tool.examples.length > 0 && (
          <Group gap="xs" mt="md" role="group" aria-label="Examples">
            <Text size="xs" c="dimmed">
              Examples
            </Text>
            {tool.examples.map((each) => (
              <Button
                key={each.title}
                size="compact-xs"
                variant="default"
                onClick={() => {
                  setExample(each);
                  setValue(each.arguments);
                  setViolations([]);
                }}
              >
                {each.title}
              </Button>
            ))}
          </Group>
        )}
      </Paper>
      {tried !== undefined && <TryResult key={tried} callId={tried} />}
    </>
  );
}

function ToolFacts({ tool }: { readonly tool: ToolDescriptor }) {
  const { client } = useToolyard();
  const stats = useQuery({ queryKey: ['tool-stats', '24h'], queryFn: ({ signal }) => client.stats.tools({}, { signal }) });
  const mine = stats.data?.tools.find((each) => each.tool === tool.name);
  const facts = [
    tool.tier.replace('_', ' '),
    `effect: ${tool.effect}`,
    `pool ${tool.pool}`,
    `at most ${durationText(tool.timeoutMs)}`,
    `${tool.retry.maxAttempts} ${tool.retry.maxAttempts === 1 ? 'attempt' : 'attempts'}`,
  ];
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <Title order={2} mb="xs">
          What models read
        </Title>
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {escapeInvisible(tool.description)}
        </Text>
        <Group gap={6} mt="sm">
          {facts.map((fact) => (
            <Badge key={fact} variant="default" tt="none" fw={500}>
              {fact}
            </Badge>
          ))}
        </Group>
        {tool.aliases.length > 0 && (
          <Group gap={6} mt="xs">
            <Text size="xs" c="dimmed">
              Also known as
            </Text>
            {tool.aliases.map((alias) => (
              <Code key={alias}>{alias}</Code>
            ))}
          </Group>
        )}
      </Paper>
      {mine && (
        <Paper withBorder p="md">
          <Title order={2} mb="xs">
            Last 24 hours
          </Title>
          <Text size="sm">
            {mine.calls.toLocaleString()} {mine.calls === 1 ? 'call' : 'calls'}, {(100 * mine.errorRate).toFixed(1)} % failing{' '}
            {mine.failed > 0 && (
              <LinkAnchor
                size="sm"
                underline="always"
                to="/calls"
                search={{ tool: tool.name, result: 'error', outcome: 'completed,failed,timed_out,unknown', since: '24h' }}
              >
                (show)
              </LinkAnchor>
            )}
          </Text>
          <Text size="sm" c="dimmed">
            runs {durationText(mine.run.p50 ?? 0)} at the median, {durationText(mine.run.p95 ?? 0)} at p95,{' '}
            {durationText(mine.run.p99 ?? 0)} at p99
          </Text>
        </Paper>
      )}
      <LastRuns tool={tool.name} />
      <Tabs defaultValue="input" keepMounted={false}>
        <Tabs.List mb="xs">
          <Tabs.Tab value="input">Input schema</Tabs.Tab>
          {tool.output && <Tabs.Tab value="output">Output schema</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="input">
          <Json value={tool.input} label="Input schema" />
        </Tabs.Panel>
        <Tabs.Panel value="output">
          <Json value={tool.output} label="Output schema" />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
