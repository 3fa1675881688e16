import { Checkbox, Group, NativeSelect, NumberInput, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { SCOPES, type Scope } from '#contracts';
import { ScopeOnly } from '../components/scope-only.js';
import { LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { Refusal } from '../components/refusal.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';
import { useScopes } from '../stream/use-scopes.js';
import { IssuedKeyText } from './issued-key.js';
import { EMPTY_KEY, keyBodyOf, LIFETIMES, SCOPE_TEXTS, type KeyDraft } from './key-draft.js';

/** Form for a program's key, whose text is shown once. */
export function NewKeyPage() {
  return (
    <ScopeOnly scope="admin" title="New key">
      <KeyForm />
    </ScopeOnly>
  );
}

function KeyForm() {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(EMPTY_KEY);
  const [tried, setTried] = useState(false);
  const change = (changes: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const make = useMutation({
    mutationFn: () => client.keys.create(keyBodyOf(draft, Date.now())),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const faults = {
    ...(draft.name.trim() === '' ? { name: 'Say what the key is for.' } : {}),
    ...(draft.scopes.length === 0 ? { scopes: 'Choose at least one.' } : {}),
  };
  const shown = tried ? faults : {};
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faults).length === 0) make.mutate();
  };
  if (make.data !== undefined)
    return (
      <>
        <PageHead title={`Key for ${make.data.name ?? make.data.id}`} />
        <Stack maw={640}>
          <IssuedKeyText issued={make.data} />
          <Group justify="flex-end">
            <LinkButton to="/keys" variant="default">
              All keys
            </LinkButton>
          </Group>
        </Stack>
      </>
    );
  return (
    <>
      <PageHead title="New key" about="For a program. What you leave empty is bounded as your own key is.">
        <LinkButton to="/keys" size="xs" variant="default">
          All keys
        </LinkButton>
      </PageHead>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" maw={640}>
          <TextInput
            label="For"
            description="What the key is for, as people will look for it."
            placeholder="CI of the web shop"
            required
            maxLength={128}
            value={draft.name}
            error={shown.name}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          />
          <ScopeChoice scopes={draft.scopes} error={shown.scopes} onChange={(scopes) => change({ scopes })} />
          <NativeSelect
            label="Works for"
            value={draft.days}
            onChange={({ currentTarget }) => change({ days: currentTarget.value })}
            data={[...LIFETIMES]}
          />
          <TextInput
            label="Agent"
            description="Its calls are of this agent when they name none."
            value={draft.agent}
            onChange={({ currentTarget }) => change({ agent: currentTarget.value })}
          />
          <TextInput
            label="Other agents"
            description="Names or globs that its calls may say instead, such as team-a-*."
            value={draft.agents}
            onChange={({ currentTarget }) => change({ agents: currentTarget.value })}
          />
          <TextInput
            label="Only these tools"
            description="Names or globs, such as file_*; all without any."
            value={draft.tools}
            onChange={({ currentTarget }) => change({ tools: currentTarget.value })}
          />
          <NumberInput
            label="Requests a minute"
            description="At most; the default of the gateway when empty."
            min={1}
            allowDecimal={false}
            value={draft.ratePerMinute ?? ''}
            onChange={(value) => change({ ratePerMinute: typeof value === 'number' ? value : undefined })}
          />
          {make.isError && <Refusal title="The key was not made" error={make.error} />}
          <Group justify="flex-end">
            <ScopedButton type="submit" scope="admin" loading={make.isPending}>
              Make the key
            </ScopedButton>
          </Group>
        </Stack>
      </form>
    </>
  );
}

interface ScopeChoiceProps {
  readonly scopes: readonly Scope[];
  readonly error: string | undefined;
  readonly onChange: (scopes: Scope[]) => void;
}

/** Scopes that the key of the person lacks cannot be given. */
function ScopeChoice({ scopes, error, onChange }: ScopeChoiceProps) {
  const { lacks } = useScopes();
  return (
    <Checkbox.Group
      label="May"
      error={error}
      value={[...scopes]}
      onChange={(chosen) => onChange(SCOPES.filter((scope) => chosen.includes(scope)))}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing={6} mt={4}>
        {SCOPES.map((scope) => (
          <Checkbox
            key={scope}
            value={scope}
            label={scope}
            description={lacks(scope) === undefined ? SCOPE_TEXTS[scope] : `${SCOPE_TEXTS[scope]}. Your own key lacks it.`}
            disabled={lacks(scope) !== undefined}
          />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  );
}
