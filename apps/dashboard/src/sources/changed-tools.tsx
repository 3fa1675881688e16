import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Source, SourceTool } from '#contracts';
import { DiffView } from '../components/diff-view.js';
import { notifyError, notifySuccess } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';

const FIELDS: Readonly<Record<string, string>> = {
  description: 'Description, which models read',
  label: 'Label',
  input: 'Arguments',
  output: 'Output',
  tier: 'What it may do',
  effect: 'What running it twice does',
  pool: 'The pool whose workers run it',
  timeoutMs: 'Longest run in milliseconds',
};

/** Tools that changed since they were accepted, each with its differences, to accept or to leave out. */
export function ChangedTools({ source }: { readonly source: Source }) {
  const pending = source.list.filter((tool) => tool.pending);
  const answer = useAnswer(source);
  if (pending.length === 0) return null;
  return (
    <section aria-label="Changes that wait">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Changes that wait</Title>
        {pending.length > 1 && (
          <ScopedButton
            scope="admin"
            size="xs"
            variant="default"
            loading={answer.isPending}
            onClick={() => answer.mutate({ accept: pending })}
          >
            Accept all {pending.length}
          </ScopedButton>
        )}
      </Group>
      <Alert color="yellow" mb="sm">
        A description is read by models as an instruction: read a change of it as you would read a command from its author.
      </Alert>
      <Stack gap="md">
        {pending.map((tool) => (
          <Change
            key={tool.rawName}
            tool={tool}
            leavable={source.origin === 'api' && source.definition !== undefined}
            pending={answer.isPending}
            onAccept={() => answer.mutate({ accept: [tool] })}
            onLeaveOut={() => answer.mutate({ leaveOut: tool })}
          />
        ))}
      </Stack>
    </section>
  );
}

type Answer = { readonly accept: readonly SourceTool[] } | { readonly leaveOut: SourceTool };

/** Answers about changed tools. A rejected change is not sent: the tool stays unavailable. */
function useAnswer({ name, definition }: Source) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (answer: Answer) => {
      if ('accept' in answer) {
        await client.sources.accept(name, { tools: answer.accept.map(({ rawName, digest }) => ({ rawName, digest })) });
        return;
      }
      if (definition === undefined || definition.kind === 'agent') return;
      await client.sources.add({ ...definition, exclude: [...(definition.exclude ?? []), answer.leaveOut.name] });
    },
    onSuccess: (_, answer) =>
      notifySuccess(
        'accept' in answer
          ? `Accepted: ${answer.accept.map((tool) => tool.name).join(', ')}`
          : `${answer.leaveOut.name} is left out; it vanishes within seconds`,
      ),
    onError: (error) => notifyError('The answer was not taken', error),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['source', name] }),
  });
}

interface ChangeProps {
  readonly tool: SourceTool;
  /** The page can change the definition, so that the tool is left out. */
  readonly leavable: boolean;
  readonly pending: boolean;
  readonly onAccept: () => void;
  readonly onLeaveOut: () => void;
}

function Change({ tool, leavable, pending, onAccept, onLeaveOut }: ChangeProps) {
  const whyNot = leavable ? undefined : 'The definition of this source is not here: add the tool to its exclude there.';
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Change of ${tool.name}`} data-change-of={tool.name}>
      <Group justify="space-between" mb="xs">
        <Title order={3}>{tool.name}</Title>
        <Group gap="xs">
          <ScopedButton scope="admin" size="xs" color="teal.9" disabled={pending} onClick={onAccept}>
            Accept
          </ScopedButton>
          <ScopedButton scope="admin" whyNot={whyNot} size="xs" variant="default" disabled={pending} onClick={onLeaveOut}>
            Reject: leave it out
          </ScopedButton>
        </Group>
      </Group>
      <Stack gap="sm">
        {tool.changes.map(({ field, before, after }) => (
          <div key={field}>
            <Text size="sm" fw={600} mb={4}>
              {FIELDS[field] ?? field}
            </Text>
            <DiffView before={readable(before)} after={readable(after)} label={`Difference of ${field} of ${tool.name}`} />
          </div>
        ))}
        {tool.changes.length === 0 && <Text size="sm">The program behind it changed; name, description and schemas are the same.</Text>}
      </Stack>
    </Paper>
  );
}

/** JSON over several lines; other text unchanged. */
function readable(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
