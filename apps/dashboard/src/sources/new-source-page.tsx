import { Group, JsonInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import type { SourceDefinition } from '#contracts';
import { LinkButton } from '../components/links.js';
import { notifySuccess } from '../components/notify.js';
import { ScopeOnly } from '../components/scope-only.js';
import { PageHead } from '../components/page-head.js';
import { Refusal } from '../components/refusal.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';
import { bundleDefinitionOf, EMPTY_BUNDLE } from './bundle-draft.js';
import { BundleFields } from './bundle-fields.js';
import { AgentFields, ServerFields } from './source-fields.js';
import { definitionOf, EMPTY_DRAFT, FORM_KINDS, FormKind, type SourceDraft } from './source-draft.js';

const route = getRouteApi('/sources/new');

/** A form for a new source. Folders and commands are named in the config file. */
export function NewSourcePage() {
  return (
    <ScopeOnly scope="admin" title="Add a source">
      <SourceForm />
    </ScopeOnly>
  );
}

function SourceForm() {
  const { kind = 'mcp' } = route.useSearch();
  const navigate = useNavigate();
  const toKind = route.useNavigate();
  const { client } = useToolyard();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [bundle, setBundle] = useState(EMPTY_BUNDLE);
  const [tried, setTried] = useState(false);
  const read = kind === 'bundle' ? bundleDefinitionOf(draft.name, bundle) : definitionOf(kind, draft);
  const faults = 'faults' in read && tried ? read.faults : [];
  const faultOf = (field: string) => faults.find((fault) => fault.field === field)?.message;
  const add = useMutation({
    mutationFn: (definition: SourceDefinition) => client.sources.add(definition),
    onSuccess: async ({ name }) => {
      notifySuccess(`${name} is added; workers connect within seconds`);
      await queries.invalidateQueries({ queryKey: ['sources'] });
      void navigate({ to: '/sources/$source', params: { source: name } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if ('definition' in read) add.mutate(read.definition);
  };
  const field = (name: keyof SourceDraft, fault: string = name) => ({
    value: draft[name],
    error: faultOf(fault),
    onChange: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }) =>
      setDraft((before) => ({ ...before, [name]: value })),
  });
  return (
    <>
      <PageHead title="Add a source" about="Workers read its tools and run them. A changed tool waits for a person.">
        <LinkButton to="/sources" size="xs" variant="default">
          All sources
        </LinkButton>
      </PageHead>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" maw={640}>
          <SegmentedControl
            aria-label="Kind of source"
            value={kind}
            onChange={(chosen) => void toKind({ search: { kind: FormKind.parse(chosen) }, replace: true })}
            data={[...FORM_KINDS]}
          />
          {kind === 'json' ? (
            <JsonInput
              label="Definition"
              description="Any source, as the config file and POST /v1/sources have it. Commands and secrets need the operator's permission."
              autosize
              minRows={8}
              maxRows={24}
              value={draft.json}
              error={faults[0] && `${faults[0].field === 'json' ? '' : `${faults[0].field}: `}${faults[0].message}`}
              onChange={(json) => setDraft((before) => ({ ...before, json }))}
              styles={{ input: { fontFamily: 'var(--app-mono)', fontSize: 13 } }}
            />
          ) : (
            <>
              <TextInput label="Name" description="Its tools are addressed as @name/tool." required {...field('name')} />
              {kind === 'bundle' && <BundleFields draft={bundle} onChange={setBundle} faultOf={faultOf} />}
              {kind === 'agent' && <AgentFields field={field} />}
              {(kind === 'mcp' || kind === 'openapi') && <ServerFields kind={kind} field={field} />}
            </>
          )}
          {kind !== 'json' && faults.length > 0 && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {faults.length === 1 ? 'One field is not filled in right.' : `${faults.length} fields are not filled in right.`}
            </Text>
          )}
          {add.isError && <Refusal title="The source was not added" error={add.error} />}
          <Group justify="flex-end">
            <ScopedButton type="submit" scope="admin" loading={add.isPending}>
              Add the source
            </ScopedButton>
          </Group>
        </Stack>
      </form>
    </>
  );
}
