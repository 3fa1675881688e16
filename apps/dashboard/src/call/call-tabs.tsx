import { Badge, Stack, Tabs, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { Call } from '#contracts';
import { fileChanges } from '#subject';
import { Json } from '../components/json.js';
import { ChangeView } from '../subject/change-view.js';
import { SubjectView } from '../subject/subject-view.js';
import { CallTab } from './call-tab.js';
import classes from './call-page.module.css';
import type { CallView } from './call-view.js';
import { useScopes } from '../stream/use-scopes.js';
import { ContentView } from './content.js';
import { DecisionView } from '../approvals/decision-view.js';
import { DebugView } from './debug-view.js';
import { EventsView } from './events-view.js';
import { CompleteOutput, OutputView } from './output-view.js';
import { AgentRun } from './tree/agent-run.js';
import { CallTree } from './tree/call-tree.js';
import { useCallTree } from './tree/use-call-tree.js';

const route = getRouteApi('/calls/$callId');

interface CallTabsProps {
  readonly call: Call;
  readonly view: CallView;
  readonly version: number;
}

/** Details of a call, by subject; the address has the chosen one. */
export function CallTabs({ call, view, version }: CallTabsProps) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const { lacks } = useScopes();
  const below = useCallTree(call).data?.calls ?? [];
  const isAgent = view.lifecycle.some(
    (event) => event.type === 'call.turn' || (event.type === 'call.submitted' && event.data.pool === 'agent'),
  );
  const isInTree = call.parentCallId !== undefined || call.batchId !== undefined || below.length > 0;
  const running = call.status !== 'ended';
  const streamed = view.attempts.some(({ updates }) => updates > 0);
  const natural = isAgent
    ? 'agent'
    : call.status === 'waiting_approval'
      ? 'decision'
      : running || (streamed && !call.result?.content.some(({ type }) => type !== 'text'))
        ? 'output'
        : 'result';
  return (
    <Tabs
      value={tab ?? natural}
      onChange={(chosen) => void navigate({ search: chosen === null ? {} : { tab: CallTab.parse(chosen) }, replace: true })}
      keepMounted={false}
    >
      <Tabs.List mb="sm" className={classes.tabs}>
        {isAgent && <Tabs.Tab value="agent">Agent run</Tabs.Tab>}
        <Tabs.Tab value="output">Output</Tabs.Tab>
        <Tabs.Tab value="result" disabled={call.result === undefined}>
          Result
        </Tabs.Tab>
        <Tabs.Tab value="arguments">Arguments</Tabs.Tab>
        <Tabs.Tab value="decision">Decision</Tabs.Tab>
        {isInTree && (
          <Tabs.Tab
            value="tree"
            rightSection={
              below.length > 0 && (
                <Badge size="xs" variant="default">
                  {below.length}
                </Badge>
              )
            }
          >
            Tree
          </Tabs.Tab>
        )}
        <Tabs.Tab
          value="events"
          rightSection={
            <Badge size="xs" variant="default">
              {view.events.length + view.dropped}
            </Badge>
          }
        >
          Events
        </Tabs.Tab>
        {lacks('admin') === undefined && <Tabs.Tab value="debug">Debug</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="agent">
        <AgentRun call={call} events={view.lifecycle} />
      </Tabs.Panel>
      <Tabs.Panel value="tree">
        <CallTree call={call} />
      </Tabs.Panel>
      <Tabs.Panel value="output">
        <OutputView call={call} view={view} version={version} />
      </Tabs.Panel>
      <Tabs.Panel value="result">{call.result && <ResultView call={call} result={call.result} />}</Tabs.Panel>
      <Tabs.Panel value="arguments">
        <SubjectView call={call} />
      </Tabs.Panel>
      <Tabs.Panel value="decision">
        <DecisionView decision={call.decision} approval={call.approval} />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <EventsView events={view.events} dropped={view.dropped} />
      </Tabs.Panel>
      <Tabs.Panel value="debug">
        <DebugView call={call} version={view.lifecycle.length} />
      </Tabs.Panel>
    </Tabs>
  );
}

function ResultView({ call, result }: { readonly call: Call; readonly result: NonNullable<Call['result']> }) {
  const changes = fileChanges(result.details);
  const details = changes.length === 0 ? result.details : withoutChanges(result.details);
  return (
    <Stack gap="sm">
      {result.isError && (
        <Badge color="red.9" tt="none">
          The model sees this as an error
        </Badge>
      )}
      <ContentView content={result.content} atEnd={result.isError} />
      {changes.map((change, index) => (
        <ChangeView key={index} change={change} />
      ))}
      {result.truncated && <CompleteOutput call={call} bytes={result.truncated.originalBytes} />}
      {result.structuredContent !== undefined && (
        <div>
          <Text size="sm" fw={550}>
            Structured content
          </Text>
          <Json value={result.structuredContent} label="Structured content" />
        </div>
      )}
      {details && (
        <div>
          <Text size="sm" fw={550}>
            Details (never shown to the model)
          </Text>
          <Json value={details} label="Details" />
        </div>
      )}
    </Stack>
  );
}

/** Details beside the changes of files, which are shown above; undefined where there are none. */
function withoutChanges({ diff: _diff, diffs: _diffs, ...rest }: NonNullable<Call['result']>['details'] = {}) {
  return Object.keys(rest).length === 0 ? undefined : rest;
}
