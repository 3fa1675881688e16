import { Group, TextInput } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconMapOff } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ToolyardError } from '#client';
import { LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState } from '../components/states.js';
import { CopyableId } from './call-facts.js';

interface NoCallProps {
  readonly callId: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** The call could not be loaded or does not exist: a search replaces the retry. */
export function NoCall({ callId, error, onRetry }: NoCallProps) {
  if (error instanceof ToolyardError && error.status === 404) return <Missing callId={callId} />;
  return (
    <>
      <PageHead title="Call" about={<CopyableId id={callId} />}>
        <AllCalls />
      </PageHead>
      <ErrorState error={error} onRetry={onRetry} />
    </>
  );
}

function Missing({ callId }: { readonly callId: string }) {
  const navigate = useNavigate();
  useDocumentTitle('No such call · Toolyard');
  const [text, setText] = useState('');
  return (
    <EmptyState
      icon={IconMapOff}
      whole
      title="There is no such call"
      action={
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '') void navigate({ to: '/calls', search: { q: text.trim() } });
          }}
        >
          <Group gap="xs" mt="xs" justify="center">
            <TextInput
              aria-label="Search calls"
              placeholder="Tool, session, agent, words"
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
            />
            <AllCalls />
          </Group>
        </form>
      }
    >
      No call with the id <CopyableId id={callId} /> is kept. It may have ended long ago, or belong to another tenant.
    </EmptyState>
  );
}

function AllCalls() {
  return (
    <LinkButton to="/calls" variant="default">
      All calls
    </LinkButton>
  );
}
