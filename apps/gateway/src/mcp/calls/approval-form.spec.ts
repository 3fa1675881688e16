import { describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { approvalForm, formAnswer } from './approval-form.js';

const FACTS = { descriptor: undefined, whereToRead: 'with GET /v1/calls/c1' };
const callWith = (args: object, more: object = {}) => ({ id: 'c1', tool: 'shell', arguments: args, ...more }) as Call;

describe('approvalForm', () => {
  it('offers short arguments unchanged in a form for editing', () => {
    const { message, requestedSchema } = approvalForm(callWith({ command: 'date' }), FACTS);
    expect(message).toContain('"command": "date"');
    expect(requestedSchema.properties['arguments']).toMatchObject({ type: 'string', default: '{"command":"date"}' });
    expect(requestedSchema.required).toEqual(['approve']);
  });

  it('states how much of long arguments a form omits and where to read them, without an edit field', () => {
    const { message, requestedSchema } = approvalForm(callWith({ text: 'x'.repeat(10_000) }), FACTS);
    expect(message).toMatch(/\[6,?\d+ more characters are not shown\. Read all with GET \/v1\/calls\/c1 before you approve\]$/);
    expect(requestedSchema.properties).not.toHaveProperty('arguments');
  });

  it('offers no edit of arguments with secrets, since the form differs from what runs', () => {
    const { requestedSchema } = approvalForm(callWith({ token: '[REDACTED]' }, { argumentsRedacted: true }), FACTS);
    expect(requestedSchema.properties).not.toHaveProperty('arguments');
  });
});

describe('formAnswer', () => {
  it.each([
    [
      { action: 'accept', content: { approve: true } },
      { decision: 'allow', arguments: undefined },
    ],
    [
      { action: 'accept', content: { approve: true, arguments: '{}' } },
      { decision: 'allow', arguments: '{}' },
    ],
    [{ action: 'accept', content: { approve: false, arguments: '{}' } }, { decision: 'deny' }],
    [{ action: 'accept' }, { decision: 'deny' }],
    [{ action: 'decline' }, { decision: 'deny' }],
    [{ action: 'cancel' }, { decision: 'dismissed' }],
    [{ action: 'other' }, undefined],
    [5, undefined],
  ])('reads the answer %j of a form', (response, expected) => {
    expect(formAnswer(response)).toEqual(expected);
  });
});
