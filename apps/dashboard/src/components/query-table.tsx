import { Table } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import stacked from './stacked.module.css';
import { ErrorState, LoadingRows } from './states.js';
import { useRowKeys } from './use-row-keys.js';

interface QueryTableProps {
  /** Query for the rows. */
  readonly query: UseQueryResult;
  readonly label: string;
  /** Cells of the head. */
  readonly head: ReactNode;
  /** Below this width it scrolls, and on phones each row becomes a block. */
  readonly minWidth: number;
  /** Shown where there is no row. */
  readonly empty: ReactNode;
  readonly children: readonly ReactNode[];
}

/** A list that is loaded as a whole: while it loads, where that fails, without a row, and as a table with the keys of all lists. */
export function QueryTable({ query, label, head, minWidth, empty, children }: QueryTableProps) {
  const list = useRowKeys<HTMLDivElement>();
  return (
    <>
      {query.isPending && <LoadingRows />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && children.length === 0 && empty}
      {children.length > 0 && (
        <Table.ScrollContainer minWidth={minWidth} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing="xs" highlightOnHover aria-label={label}>
            <Table.Thead>
              <Table.Tr>{head}</Table.Tr>
            </Table.Thead>
            <Table.Tbody>{children}</Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}
