import type { UsagePage } from '#contracts';

const COLUMNS = [
  'at',
  'agentId',
  'tool',
  'calls',
  'failed',
  'denied',
  'approvals',
  'waitMs',
  'runMs',
  'outputBytes',
  'cpuMs',
  'cpuCalls',
] as const;

/** Usage as CSV (RFC 4180): a header, then a line per row, with the tenant in front. Ends with a line break. */
export function usageCsv({ tenantId, rows }: Pick<UsagePage, 'tenantId' | 'rows'>): string {
  const lines = rows.map((row) => [row.tenantId ?? tenantId, ...COLUMNS.map((name) => row[name] ?? '')].map(cell).join(','));
  return [['tenantId', ...COLUMNS].join(','), ...lines, ''].join('\r\n');
}

/** Names begin with `@` or `-` too, which spreadsheets take for formulas. */
function cell(value: string | number): string {
  const text = String(value);
  const harmless = /^[@=+-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
