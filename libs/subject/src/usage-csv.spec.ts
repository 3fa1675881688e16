import { expect, it } from '@jest/globals';
import { usageCsv } from './usage-csv.js';

const sums = {
  at: '2026-01-31T00:00:00.000Z',
  calls: 2,
  failed: 1,
  denied: 0,
  approvals: 0,
  waitMs: 5,
  runMs: 9,
  outputBytes: 3,
  cpuCalls: 0,
};

it('writes usage as comma-separated values, with names that no spreadsheet reads as a formula', () => {
  const rows = [sums, { ...sums, agentId: '=1+1', cpuMs: 4, cpuCalls: 1 }, { ...sums, tool: 'a,"b' }];
  expect(usageCsv({ tenantId: 'acme', rows }).split('\r\n')).toEqual([
    'tenantId,at,agentId,tool,calls,failed,denied,approvals,waitMs,runMs,outputBytes,cpuMs,cpuCalls',
    'acme,2026-01-31T00:00:00.000Z,,,2,1,0,0,5,9,3,,0',
    `acme,2026-01-31T00:00:00.000Z,'=1+1,,2,1,0,0,5,9,3,4,1`,
    'acme,2026-01-31T00:00:00.000Z,,"a,""b",2,1,0,0,5,9,3,,0',
    '',
  ]);
});
