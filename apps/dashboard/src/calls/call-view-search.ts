import { z } from 'zod';
import { Risk } from '#contracts';

/** How the list of calls is shown: in the address beside its filters. */
export interface CallListView {
  /** Highest risk first, as the gateway lists them; longest or shortest run first, of all loaded pages. Absent: newest first. */
  readonly sort?: 'risk' | 'longest' | 'shortest';
  /** Columns that are not shown, with commas. */
  readonly hide?: string;
  /** The call beside the list. */
  readonly peek?: string;
}

export const COLUMNS = ['State', 'Tool', 'Subject', 'Agent', 'Session', 'Risk', 'Run time', 'Submitted'] as const;
export type Column = (typeof COLUMNS)[number];

/** Columns that a row needs cannot be hidden. */
export const OPTIONAL_COLUMNS = ['Tool', 'Agent', 'Session', 'Risk', 'Run time', 'Submitted'] as const satisfies readonly Column[];

const WIDTHS: Readonly<Record<Column, string>> = {
  State: '142px',
  Tool: 'minmax(104px, 0.5fr)',
  Subject: 'minmax(240px, 4fr)',
  Agent: 'minmax(108px, 0.8fr)',
  Session: 'minmax(132px, 1fr)',
  Risk: '82px',
  'Run time': '92px',
  Submitted: '104px',
};

const View = z.object({
  sort: z.enum(['risk', 'longest', 'shortest']).optional().catch(undefined),
  hide: z.string().optional().catch(undefined),
  peek: z.string().optional().catch(undefined),
});

/** Reads the address, and ignores unknown parts. */
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
  const hidden = peek === undefined ? hide.split(',') : [...hide.split(','), 'Agent', 'Session', 'Risk', 'Submitted'];
  return COLUMNS.filter((name) => !hidden.includes(name));
}

/** Value for `grid-template-columns`. */
export function columnWidths(columns: readonly Column[]): string {
  return columns.map((name) => WIDTHS[name]).join(' ');
}

function isOptional(name: string): boolean {
  return OPTIONAL_COLUMNS.some((each) => each === name);
}

interface SortedRow {
  readonly runMs?: number | undefined;
  readonly risk?: Risk | undefined;
}

/** Rows without what they are sorted by come last. Rows that are equal keep their order, as all do without `sort`. */
export function sortRows<Row extends SortedRow>(rows: readonly Row[], sort: CallListView['sort']): readonly Row[] {
  if (sort === undefined) return rows;
  const valueOf = ({ runMs, risk }: Row) => {
    if (sort !== 'risk') return runMs;
    return risk && Risk.options.indexOf(risk);
  };
  const sign = sort === 'shortest' ? 1 : -1;
  return [...rows].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sign * (a - b);
  });
}
