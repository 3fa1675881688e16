import { Text, Title, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Call } from '#contracts';
import { statesText } from '../../calls/call-labels.js';
import { rowOfSummary } from '../../calls/call-row.js';
import { LinkAnchor } from '../../components/links.js';
import { ErrorState, LoadingRows } from '../../components/states.js';
import { useToolyard } from '../../stream/toolyard.js';
import { CallBars } from './call-bars.js';
import { useCallTree, useTreeRoot } from './use-call-tree.js';

const route = getRouteApi('/calls/$callId');
const BATCH_CALLS = 200;

/** The call with all that is above and below it, and the calls of its batch. */
export function CallTree({ call }: { readonly call: Call }) {
  const tree = useCallTree(call);
  const root = useTreeRoot(call);
  const calls = useMemo(
    () => [...new Map([...(root === undefined ? [] : [root]), ...(tree.data?.calls ?? [])].map((each) => [each.id, each])).values()],
    [root, tree.data],
  );
  if (tree.isPending) return <LoadingRows rows={3} />;
  if (tree.isError) return <ErrorState error={tree.error} onRetry={() => void tree.refetch()} />;
  return (
    <>
      {(call.batchId === undefined || calls.length > 1) && <CallBars calls={calls} here={call.id} label="Calls of the tree" />}
      {!tree.data.isWhole && (
        <Text size="xs" c="dimmed">
          The tree has more calls than are shown here;{' '}
          <LinkAnchor size="xs" underline="always" to="/calls" search={{ rootCallId: call.rootCallId ?? call.id }}>
            the list has all
          </LinkAnchor>
          .
        </Text>
      )}
      {call.batchId !== undefined && <Batch call={call} batchId={call.batchId} />}
    </>
  );
}

/** Calls that the agent requested together with this one, below a heading that folds them, as the address says. */
function Batch({ call, batchId }: { readonly call: Call; readonly batchId: string }) {
  const { client } = useToolyard();
  const isFolded = route.useSearch().batch === 'folded';
  const navigate = route.useNavigate();
  const fold = () =>
    void navigate({ search: (before) => ({ ...before, batch: isFolded ? undefined : 'folded' }), replace: true, resetScroll: false });
  const { data } = useQuery({
    queryKey: ['batch-calls', batchId, call.status],
    queryFn: ({ signal }) => client.calls.list({ batchId, limit: BATCH_CALLS }, { signal }),
    refetchInterval: ({ state }) => (state.data?.calls.some(({ status }) => status !== 'ended') === true ? 1500 : false),
    placeholderData: (before) => before,
  });
  if (data === undefined) return <LoadingRows rows={2} />;
  const Icon = isFolded ? IconChevronRight : IconChevronDown;
  return (
    <section aria-label="Batch">
      <Title order={2} mt="md" mb={4}>
        <UnstyledButton
          aria-expanded={!isFolded}
          onClick={fold}
          style={{ display: 'inline-flex', alignItems: 'center', gap: 6, font: 'inherit' }}
        >
          <Icon size={16} aria-hidden />
          Batch of {data.calls.length}
          {data.nextCursor === undefined ? '' : ' and more'}
          <Text span size="xs" c="dimmed">
            {statesText(data.calls.map(rowOfSummary))}
          </Text>
        </UnstyledButton>
      </Title>
      {!isFolded && <CallBars calls={data.calls} here={call.id} label="Calls of the batch" />}
    </section>
  );
}
