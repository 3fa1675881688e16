import { Group, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type ToolDescriptor } from '#contracts';
import { ToolyardError } from '#client';
import { ArgumentsInput } from '../components/arguments-input.js';
import { LinkButton } from '../components/links.js';
import { notifySuccess } from '../components/notify.js';
import { PageHead } from '../components/page-head.js';
import { Refusal } from '../components/refusal.js';
import { ScopeOnly } from '../components/scope-only.js';
import { ScopedButton } from '../components/scoped-button.js';
import { ErrorState } from '../components/states.js';
import { useToolyard } from '../stream/toolyard.js';
import { DueTimes } from './due-times.js';
import { OVERLAP_CHOICES, timingOf, TIMING_KINDS, MISSED_CHOICES, type ScheduleDraft } from './schedule-draft.js';
import { TimingFields } from './timing-fields.js';
import { timingText } from './timing-text.js';

const route = getRouteApi('/schedules/new');
const Arguments = z.record(z.string(), Json);
const PREVIEW_AFTER_MS = 300;

/** A form for a new schedule, with its next due times while it is filled in. */
export function NewSchedulePage() {
  return (
    <ScopeOnly scope="submit" title="New schedule">
      <ScheduleForm />
    </ScopeOnly>
  );
}

function ScheduleForm() {
  const { tool = '' } = route.useSearch();
  const navigate = useNavigate();
  const { client } = useToolyard();
  const queries = useQueryClient();
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools.list({}, { signal }), staleTime: 60_000 });
  const [draft, setDraft] = useState<ScheduleDraft>(() => emptyDraft(tool));
  const set = (change: Partial<ScheduleDraft>) => setDraft((before) => ({ ...before, ...change }));
  const args = draft.arguments ?? exampleOf(tools.data, draft.tool);
  const readable = Arguments.safeParse(parsed(args));
  const timing = timingOf(draft);
  const create = useMutation({
    mutationFn: () =>
      client.schedules.create({
        ...timing,
        timeZone: draft.timeZone,
        overlap: draft.overlap,
        missed: draft.missed,
        ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
        call: {
          tool: draft.tool,
          arguments: readable.data ?? {},
          ...(draft.sessionId === '' ? {} : { sessionId: draft.sessionId }),
        },
      }),
    onSuccess: async (schedule) => {
      notifySuccess('The schedule is active');
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      void navigate({ to: '/schedules/$scheduleId', params: { scheduleId: schedule.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (readable.success && draft.tool !== '') create.mutate();
  };
  return (
    <>
      <PageHead title="New schedule" about="The same call, again and again or once later, with the rights that your key has then.">
        <LinkButton to="/schedules" size="xs" variant="default">
          All schedules
        </LinkButton>
      </PageHead>
      <form onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Stack gap="sm">
            <SegmentedControl
              aria-label="How it is due"
              value={draft.kind}
              onChange={(kind) => set({ kind: z.enum(['cron', 'every', 'at']).parse(kind) })}
              data={[...TIMING_KINDS]}
            />
            <TimingFields draft={draft} onChange={set} />
            <TextInput
              label="Name"
              description="For people; the tool's name without one."
              maxLength={128}
              value={draft.name}
              onChange={({ currentTarget }) => set({ name: currentTarget.value })}
            />
            <Select
              label="Tool"
              required
              searchable
              data={(tools.data ?? []).map(({ name }) => name)}
              value={draft.tool === '' ? null : draft.tool}
              onChange={(chosen) => set({ tool: chosen ?? '', arguments: undefined })}
            />
            <ArgumentsInput description="Every run is called with these." value={args} onChange={(text) => set({ arguments: text })} />
            <TextInput
              label="Session"
              description="Whose workspace and posture the calls have; none without one."
              value={draft.sessionId}
              onChange={({ currentTarget }) => set({ sessionId: currentTarget.value })}
            />
            <Select
              label="When the call before has not ended"
              allowDeselect={false}
              data={[...OVERLAP_CHOICES]}
              value={draft.overlap}
              onChange={(chosen) => chosen !== null && set({ overlap: z.enum(['skip', 'queue', 'cancel']).parse(chosen) })}
            />
            <Select
              label="After a time without a gateway"
              allowDeselect={false}
              data={[...MISSED_CHOICES]}
              value={draft.missed}
              onChange={(chosen) => chosen !== null && set({ missed: z.enum(['run', 'skip']).parse(chosen) })}
            />
          </Stack>
          <Stack gap="sm">
            <Preview draft={draft} />
            {create.isError && <Refusal title="This is not a schedule yet" error={create.error} />}
            <Group justify="flex-end">
              <ScopedButton
                type="submit"
                scope="submit"
                disabled={draft.tool === '' || timing === undefined || !readable.success}
                loading={create.isPending}
              >
                Make the schedule
              </ScopedButton>
            </Group>
          </Stack>
        </SimpleGrid>
      </form>
    </>
  );
}

/** Next due times of the entered schedule, or its faults. */
function Preview({ draft }: { readonly draft: ScheduleDraft }) {
  const { client } = useToolyard();
  const [timing] = useDebouncedValue(timingOf(draft), PREVIEW_AFTER_MS);
  const { timeZone } = draft;
  const preview = useQuery({
    queryKey: ['schedule-preview', timing, timeZone],
    queryFn: ({ signal }) => client.schedules.preview({ ...timing, timeZone }, { signal }),
    enabled: timing !== undefined,
  });
  if (timing === undefined || preview.isPending) return <DueTimes times={[]} timeZone={timeZone} none="Fill in when it is due." />;
  if (preview.isError)
    return preview.error instanceof ToolyardError && preview.error.code === 'invalid_request' ? (
      <Refusal title="This is not a schedule yet" error={preview.error} />
    ) : (
      <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />
    );
  return (
    <>
      <Text fw={550} aria-live="polite">
        {timingText(timing)}
      </Text>
      <DueTimes times={preview.data.nextRuns} timeZone={timeZone} none="It would not run at all." />
    </>
  );
}

function emptyDraft(tool: string): ScheduleDraft {
  return {
    kind: 'cron',
    cron: '0 7 * * 1-5',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    every: 1,
    unit: 'h',
    at: '',
    name: '',
    tool,
    arguments: undefined,
    sessionId: '',
    overlap: 'skip',
    missed: 'run',
  };
}

function exampleOf(tools: readonly ToolDescriptor[] | undefined, name: string): string {
  const example = tools?.find((tool) => tool.name === name)?.examples[0];
  return JSON.stringify(example?.arguments ?? {}, null, 2);
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
