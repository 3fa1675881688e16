import { SegmentedControl, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { type DiffRow, diffRows, type Fold, foldRows, type Side } from '#subject';
import classes from './diff-view.module.css';
import { VisibleText } from './visible-text.js';

interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly writtenOut?: boolean;
  /** The lines of a file at which both begin. Where one is not known, its lines have no numbers. Absent: the texts are whole. */
  readonly from?: { readonly before: number | undefined; readonly after: number | undefined };
}

/** Two texts line by line. */
export function DiffView({ before, after, from, ...props }: DiffViewProps) {
  const diff = useMemo(() => {
    const { rows, ...counts } = diffRows(before, after);
    return { ...counts, rows: foldRows(from === undefined ? rows : rows.map((row) => numbered(row, from))) };
  }, [before, after, from?.before, from?.after]);
  return <DiffTable {...diff} {...props} />;
}

function numbered(row: DiffRow, from: NonNullable<DiffViewProps['from']>): DiffRow {
  const moved = (side: Side | undefined, first: number | undefined) =>
    side && { ...side, number: first === undefined ? undefined : first + (side.number ?? 1) - 1 };
  const [before, after] = [moved(row.before, from.before), moved(row.after, from.after)];
  return { kind: row.kind, ...(before && { before }), ...(after && { after }) };
}

interface DiffTableProps extends Pick<DiffViewProps, 'label' | 'writtenOut'> {
  readonly rows: readonly (DiffRow | Fold)[];
  readonly added: number;
  readonly removed: number;
}

/** The rows of a difference side by side, or one below the other on a phone and where a person chooses so. */
export function DiffTable({ rows, added, removed, label, writtenOut = false }: DiffTableProps) {
  const narrow = useMediaQuery('(max-width: 48em)') ?? false;
  const [chosen, setChosen] = useState<'split' | 'unified'>();
  const split = (chosen ?? (narrow ? 'unified' : 'split')) === 'split';
  return (
    <div className={classes.diff}>
      <div className={classes.head}>
        <Text size="xs">
          <span className={classes.added}>+{added}</span> <span className={classes.removed}>−{removed}</span>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="How the difference is shown"
          value={split ? 'split' : 'unified'}
          onChange={(value) => setChosen(value === 'split' ? 'split' : 'unified')}
          data={[
            { value: 'split', label: 'Side by side' },
            { value: 'unified', label: 'Unified' },
          ]}
        />
      </div>
      <div className={classes.scroller} tabIndex={0} role="region" aria-label={label}>
        <table className={classes.table} data-split={split || undefined}>
          <tbody>
            {rows.map((row, index) =>
              row.kind === 'fold' ? (
                <tr key={index} className={classes.fold}>
                  <td colSpan={split ? 4 : 3}>{row.lines === 1 ? '1 equal line' : `${row.lines} equal lines`}</td>
                </tr>
              ) : split ? (
                <SplitRow key={index} row={row} writtenOut={writtenOut} />
              ) : (
                <UnifiedRows key={index} row={row} writtenOut={writtenOut} />
              ),
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: DiffRow;
  readonly writtenOut: boolean;
}

function SplitRow({ row: { kind, before, after }, writtenOut }: RowProps) {
  return (
    <tr>
      <Cells side={before} change={kind === 'changed' ? 'removed' : undefined} writtenOut={writtenOut} />
      <Cells side={after} change={kind === 'changed' ? 'added' : undefined} writtenOut={writtenOut} />
    </tr>
  );
}

function Cells({
  side,
  change,
  writtenOut,
}: {
  readonly side: Side | undefined;
  readonly change: string | undefined;
  readonly writtenOut: boolean;
}) {
  if (side === undefined)
    return (
      <>
        <td className={classes.number} aria-hidden />
        <td className={classes.none} aria-hidden />
      </>
    );
  return (
    <>
      <td className={classes.number}>{side.number}</td>
      <td className={classes.line} data-change={change}>
        <Line side={side} writtenOut={writtenOut} />
      </td>
    </>
  );
}

function UnifiedRows({ row: { kind, before, after }, writtenOut }: RowProps) {
  if (kind === 'same' && before && after)
    return (
      <tr>
        <td className={classes.number}>{before.number}</td>
        <td className={classes.number}>{after.number}</td>
        <td className={classes.line}>
          <Line side={after} writtenOut={writtenOut} />
        </td>
      </tr>
    );
  return (
    <>
      {before && (
        <tr>
          <td className={classes.number}>{before.number}</td>
          <td className={classes.number} aria-hidden />
          <td className={classes.line} data-change="removed">
            <Line side={before} writtenOut={writtenOut} />
          </td>
        </tr>
      )}
      {after && (
        <tr>
          <td className={classes.number} aria-hidden />
          <td className={classes.number}>{after.number}</td>
          <td className={classes.line} data-change="added">
            <Line side={after} writtenOut={writtenOut} />
          </td>
        </tr>
      )}
    </>
  );
}

function Line({ side, writtenOut }: { readonly side: Side; readonly writtenOut: boolean }) {
  return (
    <>
      {side.spans.map(({ text, changed }, index) =>
        changed ? (
          <mark key={index} className={classes.word}>
            <VisibleText text={text} writtenOut={writtenOut} />
          </mark>
        ) : (
          <VisibleText key={index} text={text} writtenOut={writtenOut} />
        ),
      )}
    </>
  );
}
