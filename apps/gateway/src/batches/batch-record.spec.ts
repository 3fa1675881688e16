import { describe, expect, it } from '@jest/globals';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import { approvalOf, heldText } from './batch-record.js';

describe('a kept approval', () => {
  const plain: DeferredApproval = { actor: 'apikey:a', scope: 'once', digest: 'd1' };
  const edited: DeferredApproval = { ...plain, edited: { arguments: { text: 'b' }, argumentsDigest: 'd2', changes: [] } };

  it('stores and reads a kept approval, with edited arguments too', () => {
    for (const approval of [plain, edited]) expect(approvalOf(heldText(approval))).toEqual(approval);
  });

  it('names no digest of the question of an approval with edited arguments, so that an older release lets the others not run', () => {
    expect(JSON.parse(heldText(plain))).toMatchObject({ digest: 'd1' });
    expect(JSON.parse(heldText(edited))).toMatchObject({ digest: expect.not.stringMatching(/^d1$/) });
  });
});
