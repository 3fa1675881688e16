import { describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { inputAnswer, inputAnswerIn, inputForm, valueOf } from './input-form.js';

const asking = (inputSchema?: object) =>
  ({ id: 'c1', tool: 'ask', status: 'waiting_input', waiting: { input: { attempt: 1, prompt: 'Which?', inputSchema } } }) as never as Call;
const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' };
const FLAT = { type: 'object', properties: { name: { type: 'string', minLength: 1 }, count: { type: 'integer' } }, required: ['name'] };
const TITLED = [{ const: 'a', title: 'The a' }];
/** Form fields since revision 2025-11-25. */
const FIELDS = [
  { type: 'string', oneOf: TITLED, default: 'a' },
  { type: 'string', enum: ['a'], enumNames: ['The a'] },
  { type: 'string', format: 'email' },
  { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2, default: ['a'] },
  { type: 'array', items: { anyOf: TITLED } },
];

describe('inputForm', () => {
  it('shows the fields of a flat object in a form', () => {
    const { message, requestedSchema } = inputForm(asking(FLAT));
    expect(message).toBe('The tool ask asks: Which?');
    expect(requestedSchema).toEqual({ type: 'object', properties: FLAT.properties, required: ['name'] });
  });

  it.each([
    { type: 'string', enum: ['a', 'b'] },
    { type: 'string', minLength: 1 },
    { type: 'number', minimum: 0 },
    { type: 'boolean' },
    ...FIELDS,
  ])('shows one field of %j in a form', (schema) => {
    expect(inputForm(asking(schema)).requestedSchema).toEqual({ type: 'object', properties: { value: schema }, required: ['value'] });
  });

  it.each([
    undefined,
    { type: 'array', items: { type: 'string' } },
    { type: 'object', properties: {} },
    { type: 'object', properties: { at: { type: 'object' } } },
    { type: 'object', properties: { at: { $ref: '#/$defs/at' } } },
    { ...FLAT, anyOf: [{ required: ['count'] }] },
  ])('asks for JSON in one text field if a form cannot ask for %j', (schema) => {
    expect(inputForm(asking(schema)).requestedSchema.properties).toEqual({ value: expect.objectContaining({ type: 'string' }) });
  });
});

describe('valueOf', () => {
  it('reads the value from a flat form, from the field of another form, or from the JSON of a text', () => {
    expect(valueOf(FLAT, { name: 'a' })).toEqual({ name: 'a' });
    expect(valueOf({ type: 'string' }, { value: '{}' })).toBe('{}');
    expect(valueOf(undefined, { value: '{"a":[1]}' })).toEqual({ a: [1] });
  });

  it.each<Record<string, string>>([{}, { value: 'no json' }, { other: '1' }])('refuses %j where JSON is asked for', (content) => {
    expect(() => valueOf(undefined, content)).toThrow(/Expected/);
  });
});

describe('inputAnswer', () => {
  it.each([
    ['input.2', { action: 'accept', content: { value: 'x' } }, { kind: 'given', attempt: 2, content: { value: 'x' } }],
    ['input.2', { action: 'decline' }, { kind: 'declined', attempt: 2 }],
    ['input.2', { action: 'cancel' }, { kind: 'dismissed', attempt: 2 }],
    ['input.2', { action: 'other' }, undefined],
    ['input.0', { action: 'accept' }, undefined],
    ['input.x', { action: 'accept' }, undefined],
    ['approval', { action: 'accept' }, undefined],
    ['input.1', 5, undefined],
    ['sampling.2', SAMPLED, { kind: 'sampled', attempt: 2, value: SAMPLED }],
    ['sampling.2', { ...SAMPLED, content: 'x' }, undefined],
    ['sampling.2', { action: 'accept', content: { value: 'x' } }, undefined],
    ['sampling.0', SAMPLED, undefined],
  ])('reads for %s the answer %j', (question, response, expected) => {
    expect(inputAnswer(question, response)).toEqual(expected);
  });

  it('applies an answer to the latest question of a request', () => {
    const responses = { 'input.10': { action: 'decline' }, 'input.9': { action: 'accept' }, approval: { action: 'accept' } };
    expect(inputAnswerIn(responses)).toEqual({ kind: 'declined', attempt: 10 });
  });
});
