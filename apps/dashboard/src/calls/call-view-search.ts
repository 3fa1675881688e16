import { z } from 'zod';

/** How the list of calls is shown: in the address beside its filters. */
export interface CallListView {
  /** Longest or shortest run first. Absent: newest first. */
  readonly sort?: 'longest' | 'shortest';
  /** Columns that are not shown, with commas. */
  readonly hide?: string;
  /** The call beside the list. */
  readonly peek?: string;
}

export const COLUMNS = ['State', 'Tool', 'Subject', 'Agent', 'Session', 'Run time', 'Submitted'] as const;
export type Column = (typeof COLUMNS)[number];

/** Columns without which a row says nothing cannot be left out. */
export const OPTIONAL_COLUMNS = ['Tool', 'Agent', 'Session', 'Run time', 'Submitted'] as const satisfies readonly Column[];

const WIDTHS: Readonly<Record<Column, string>> = {
  State: '146px',
  Tool: 'minmax(104px, 0.5fr)',
  Subject: 'minmax(240px, 4fr)',
  Agent: 'minmax(84px, 0.6fr)',
  Session: 'minmax(116px, 0.8fr)',
  'Run time': '100px',
  Submitted: '114px',
};

const View = z.object({
  sort: z.enum(['longest', 'shortest']).optional().catch(undefined),
  hide: z.string().optional().catch(undefined),
  peek: z.string().optional().catch(undefined),
});

/** Reads the address; what it does not know is left out. */
export function readView(search: unknown): CallListView {
  const { sort, hide, peek } = View.parse(search);
  const hidden = hide?.split(',').filter((name) => isOptional(name));
  return {
    ...(sort === undefined ? {} : { sort }),
    ...(hidden === undefined || hidden.length === 0 ? {} : { hide: hidden.join(',') }),
    ...(peek === undefined || peek === '' ? {} : { peek }),
  };
}

/** Beside a call there is room for what tells rows apart. */
export function shownColumns({ hide = '', peek }: CallListView): Column[] {
  const hidden = peek === undefined ? hide.split(',') : [...hide.split(','), 'Agent', 'Session'];
  return COLUMNS.filter((name) => !hidden.includes(name));
}

/** For `grid-template-columns`. */
export function columnWidths(columns: readonly Column[]): string {
  return columns.map((name) => WIDTHS[name]).join(' ');
}

function isOptional(name: string): boolean {
  return OPTIONAL_COLUMNS.some((each) => each === name);
}

/** By run time; rows without one come last. Without `sort` the order stays. */
export function sorted<Row extends { readonly runMs?: number | undefined }>(
  rows: readonly Row[],
  sort: CallListView['sort'],
): readonly Row[] {
  if (sort === undefined) return rows;
  const sign = sort === 'longest' ? -1 : 1;
  return [...rows].sort((a, b) => {
    if (a.runMs === undefined || b.runMs === undefined) return Number(a.runMs === undefined) - Number(b.runMs === undefined);
    return sign * (a.runMs - b.runMs);
  });
}
