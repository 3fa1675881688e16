import { ActionIcon, Button, Checkbox, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconBookmark, IconColumns3, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { VIEW_LIMITS } from '#contracts';
import { LinkButton } from '../components/links.js';
import { ErrorState } from '../components/states.js';
import { OPTIONAL_COLUMNS, shownColumns, type CallListView } from './call-view-search.js';
import { searchOfView, useSavedViews, type ViewSearch } from './saved-views.js';

/** Saved views, and a field to save the present one. They are loaded when the menu opens. */
export function SavedViews({ search }: { readonly search: ViewSearch }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover width={280} position="bottom-end" shadow="md" trapFocus returnFocus opened={isOpen} onChange={setOpen}>
      <Popover.Target>
        <ActionIcon variant="default" size={30} aria-label="Views" title="Views" onClick={() => setOpen(!isOpen)}>
          <IconBookmark size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Saved views">
        <ViewList search={search} onChosen={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function ViewList({ search, onChosen }: { readonly search: ViewSearch; readonly onChosen: () => void }) {
  const { views, error, save, remove } = useSavedViews();
  const [name, setName] = useState('');
  const isNamed = name.trim() !== '';
  return (
    <Stack gap={4}>
      {error !== null && <ErrorState error={error} />}
      {views?.map((view) => (
        <Group key={view.name} wrap="nowrap" gap={4}>
          <LinkButton
            to="/calls"
            search={searchOfView(view)}
            variant="subtle"
            color="gray"
            size="xs"
            justify="flex-start"
            style={{ flex: 1, minWidth: 0 }}
            onClick={onChosen}
          >
            {view.name}
          </LinkButton>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Remove the view ${view.name}`} onClick={() => remove(view.name)}>
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {views?.length === 0 && (
        <Text size="xs" c="dimmed">
          A view is a list with its filters, order and columns, saved for your key or login.
        </Text>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isNamed) return;
          save({ name: name.trim(), search });
          setName('');
        }}
      >
        <Group wrap="nowrap" gap={4} mt={4} align="flex-end">
          <TextInput
            size="xs"
            label="Save this view as"
            maxLength={VIEW_LIMITS.nameChars}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            style={{ flex: 1 }}
          />
          <Button size="xs" type="submit" disabled={!isNamed}>
            Save
          </Button>
        </Group>
      </form>
    </Stack>
  );
}

interface ColumnMenuProps {
  readonly view: CallListView;
  readonly onChange: (hide: string | undefined) => void;
}

export function ColumnMenu({ view, onChange }: ColumnMenuProps) {
  const shown: readonly string[] = shownColumns({ hide: view.hide ?? '' });
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="default" size={30} visibleFrom="sm" aria-label="Columns" title="Columns">
          <IconColumns3 size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Columns">
        <Stack gap={10}>
          {OPTIONAL_COLUMNS.map((name) => (
            <Checkbox
              key={name}
              size="xs"
              label={name}
              checked={shown.includes(name)}
              onChange={({ currentTarget: { checked } }) => {
                const hidden = OPTIONAL_COLUMNS.filter((each) => (each === name ? !checked : !shown.includes(each)));
                onChange(hidden.length === 0 ? undefined : hidden.join(','));
              }}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
