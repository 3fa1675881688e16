import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { summaryOf, type CallRecord } from '#history';
import { decodeRecord, encodeRecord } from './packed-record.js';

const ENDED: CallRecord = {
  id: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
  tool: 'shell',
  pool: 'shell',
  priority: 'normal',
  status: 'ended',
  attempt: 1,
  submittedAt: 1_000,
  labels: {},
  preview: '{}',
  outcome: 'completed',
};

describe('a stored record of a call', () => {
  it('is read as it was written, with or without an error result, note and suspension', () => {
    const optional = fc.option(fc.constant(true as const), { nil: undefined });
    fc.assert(
      fc.property(optional, optional, fc.string(), (suspended, errorResult, text) => {
        const note = errorResult && text !== '' ? text : undefined;
        expect(decodeRecord(encodeRecord({ ...ENDED, suspended, errorResult, note }))).toEqual(
          expect.objectContaining({ ...ENDED, suspended, errorResult, note }),
        );
      }),
    );
  });

  it('is readable as older versions wrote it, and counts as a success when it completed', () => {
    const old = '["07-01JZ8C5W3Q4X9R7T2M6K8N0P1V","shell","shell","normal","ended",1,1000,"{}",0,[],5,9,4,"completed",0,"",""]';
    expect(summaryOf(decodeRecord(old))).toMatchObject({ outcome: 'completed', ok: true, isError: false, runMs: 4 });
    expect(decodeRecord(old.replace(/]$/, ',1]'))).toMatchObject({ suspended: true, errorResult: undefined });
    const failed = old.replace('"completed",0,"",""', '"failed","tool_failed","boom","9f86d081884c7d65"');
    expect(summaryOf(decodeRecord(failed))).toMatchObject({ ok: false, isError: true, error: { code: 'tool_failed' } });
  });
});
