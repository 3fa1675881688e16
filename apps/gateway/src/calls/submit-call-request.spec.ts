import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SubmitCallBody } from '#contracts';
import { parseJsonBody } from '../platform/http/json-body.js';
import { SubmitCallRequest } from './submit-call-request.js';

describe('SubmitCallRequest', () => {
  it('accepts exactly the submissions that the contract accepts', () => {
    const body = fc.record(
      {
        tool: fc.oneof(fc.string(), fc.constant('echo')),
        arguments: fc.oneof(fc.jsonValue(), fc.object()),
        sessionId: fc.oneof(fc.string(), fc.constant('s1')),
        priority: fc.constantFrom('high', 'no'),
        labels: fc.dictionary(fc.string(), fc.string()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(body, (value) => {
        const text = JSON.stringify(value);
        // parseJsonBody comes first and rejects a body that pollutes prototypes.
        fc.pre(!/"(__proto__|constructor)"/.test(text));
        const json = parseJsonBody(text);
        const [contract, request] = [SubmitCallBody.safeParse(json), SubmitCallRequest.safeParse(json)];
        expect(request.success).toBe(contract.success);
        expect(request.data).toEqual(contract.data);
      }),
    );
  });
});
