import { List, Paper, Text, Title } from '@mantine/core';
import type { Session } from '#contracts';
import { escapeInvisible } from '#subject';

interface Step {
  readonly text: string;
  readonly mark: string;
  readonly state: string;
}

/** Todo list and task list of the session's agents. Nothing if there are none. */
export function SessionWorkCard({ session: { todos = [], taskList } }: { readonly session: Session }) {
  const todoSteps = todos.map(({ content, status }): Step => ({ text: content, mark: MARKS[status], state: status.replace('_', ' ') }));
  const taskSteps = (taskList?.tasks ?? []).map(({ description, completed }): Step => ({
    text: description,
    mark: completed ? MARKS.completed : MARKS.pending,
    state: completed ? 'completed' : 'pending',
  }));
  if (todoSteps.length + taskSteps.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Work">
      <Title order={2} mb="xs">
        Work
      </Title>
      <Steps steps={todoSteps} />
      {taskList !== undefined && (
        <Text size="sm" fw={600} mt="xs">
          {escapeInvisible(taskList.description)}
        </Text>
      )}
      <Steps steps={taskSteps} />
    </Paper>
  );
}

const MARKS = { pending: '○', in_progress: '◐', completed: '●' } as const;

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <List size="sm" listStyleType="none">
      {steps.map(({ text, mark, state }, index) => (
        <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
          <span role="img" aria-label={state}>
            {mark}
          </span>{' '}
          {escapeInvisible(text)}
        </List.Item>
      ))}
    </List>
  );
}
