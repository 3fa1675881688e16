import { Group, Paper, Progress, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { z } from 'zod';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { LinkAnchor } from '../components/links.js';
import { useUnlessPaused } from '../components/paused.js';

const SHOWN = 8;
const By = z.enum(['tool', 'agent', 'tenant']);

/** Running calls by tool, agent or tenant. */
export function RunningGroups() {
  const { board } = useToolyard();
  const [by, setBy] = useState<z.output<typeof By>>('tool');
  useFrames(board);
  const all = useUnlessPaused({ tool: board.now.groups('tool'), agent: board.now.groups('agent'), tenant: board.now.groups('tenant') });
  const groups = all[by].filter(({ counts }) => counts.running + counts.queued > 0);
  const most = Math.max(1, ...groups.map(({ counts }) => counts.running + counts.queued));
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h3">
          Running by {by}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Running by"
          value={by}
          onChange={(chosen) => setBy(By.parse(chosen))}
          data={['tool', 'agent', 'tenant']}
        />
      </Group>
      {groups.length === 0 && (
        <Text size="sm" c="dimmed" py="md">
          {board.now.isKnown ? 'Nothing runs just now. Submit a call, or try a tool on the Tools page.' : 'Not known yet.'}
        </Text>
      )}
      <Stack gap={8}>
        {groups.slice(0, SHOWN).map(({ name, counts }) => (
          <div key={name}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              {by === 'tenant' ? (
                <Text size="sm" truncate>
                  {name}
                </Text>
              ) : (
                <LinkAnchor
                  size="sm"
                  truncate
                  to="/calls"
                  search={{ [by === 'tool' ? 'tool' : 'agentId']: name, status: 'running,queued' }}
                >
                  {name}
                </LinkAnchor>
              )}
              <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {counts.running} running{counts.queued > 0 ? ` · ${counts.queued} queued` : ''}
              </Text>
            </Group>
            <Progress.Root size="sm" mt={2}>
              <Progress.Section value={(100 * counts.running) / most} color="blue" aria-label={`${name}: ${counts.running} running`} />
              <Progress.Section value={(100 * counts.queued) / most} color="gray" aria-label={`${name}: ${counts.queued} queued`} />
            </Progress.Root>
          </div>
        ))}
        {groups.length > SHOWN && (
          <Text size="xs" c="dimmed">
            and {groups.length - SHOWN} more
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
