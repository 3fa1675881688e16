import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Call } from '#contracts';
import { rowOfSummary } from '../../calls/call-row.js';
import { ErrorState, LoadingRows } from '../../components/states.js';
import { useRowKeys } from '../../components/use-row-keys.js';
import { LinkAnchor } from '../../components/links.js';
import { treeOf } from '../../sessions/session-tree.js';
import { CallLine } from '../../calls/call-line.js';
import classes from './call-tree.module.css';
import { useCallTree, useTreeRoot } from './use-call-tree.js';

/** The call with all that is above and below it. */
export function CallTree({ call }: { readonly call: Call }) {
  const tree = useCallTree(call);
  const root = useTreeRoot(call);
  const list = useRowKeys<HTMLUListElement>();
  const calls = useMemo(
    () => new Map([...(root === undefined ? [] : [root]), ...(tree.data?.calls ?? [])].map((each) => [each.id, each])),
    [root, tree.data],
  );
  const branches = useMemo(() => treeOf([...calls.values()].map(rowOfSummary)), [calls]);
  if (tree.isPending) return <LoadingRows rows={3} />;
  if (tree.isError) return <ErrorState error={tree.error} onRetry={() => void tree.refetch()} />;
  return (
    <>
      <ul className={classes.tree} aria-label="Calls of the tree" ref={list}>
        {branches.map(({ row, depth }) => {
          const each = calls.get(row.id);
          return (
            each && (
              <li
                key={row.id}
                className={classes.branch}
                style={{ '--depth': depth }}
                data-depth={depth}
                data-here={row.id === call.id || undefined}
              >
                <CallLine call={each} here={row.id === call.id} />
              </li>
            )
          );
        })}
      </ul>
      {!tree.data.isWhole && (
        <Text size="xs" c="dimmed">
          The tree has more calls than are shown here;{' '}
          <LinkAnchor size="xs" underline="always" to="/calls" search={{ rootCallId: call.rootCallId ?? call.id }}>
            the list has all
          </LinkAnchor>
          .
        </Text>
      )}
    </>
  );
}
