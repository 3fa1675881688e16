import { Group, Kbd, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { usePages } from './pages.js';

type Keys = readonly (readonly [keys: readonly string[], does: string])[];

const EVERYWHERE: Keys = [
  [['/', 'Ctrl K'], 'Search sessions, agents, tools, calls'],
  [['?'], 'These keys'],
  [['Esc'], 'Close what is open'],
];
const LISTS: Keys = [
  [['j', '↓'], 'Next row'],
  [['k', '↑'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['Space'], 'Calls: show it beside the list'],
];
const DECISIONS: Keys = [
  [['a'], 'Allow once; again: at once'],
  [['d'], 'Deny; again: at once'],
  [['z'], 'Take the answer back'],
  [['x'], 'Approvals: select the call'],
  [['e'], 'Edit and allow'],
  [['1', '…', '6'], 'Allow, and trust for the rest of the session'],
];

/** All keys, opened by `?`. */
export function KeysHelp() {
  const [isOpen, setOpen] = useState(false);
  const pages = usePages();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Modal
      opened={isOpen}
      onClose={() => setOpen(false)}
      title="Keys"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 0 }}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <KeyGroup title="Everywhere" keys={EVERYWHERE} />
        <KeyGroup title="Lists" keys={LISTS} />
        <KeyGroup title="Pages" keys={pages.map(({ key, label }) => [['g', key], label])} />
        <KeyGroup title="Decisions" keys={DECISIONS} />
      </SimpleGrid>
    </Modal>
  );
}

function KeyGroup({ title, keys }: { readonly title: string; readonly keys: Keys }) {
  return (
    <div>
      <Title order={3} mb={6}>
        {title}
      </Title>
      <Stack gap={4}>
        {keys.map(([names, does]) => (
          <Group key={does} gap="xs" wrap="nowrap">
            <Group gap={3} w={96} wrap="nowrap">
              {names.map((name) => (
                <Kbd key={name} size="xs">
                  {name}
                </Kbd>
              ))}
            </Group>
            <Text size="sm">{does}</Text>
          </Group>
        ))}
      </Stack>
    </div>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
