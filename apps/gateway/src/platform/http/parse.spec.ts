import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ListCallsQuery, ProblemError, ROUTES, SubmitCallBody, WORKER_LIMITS } from '#contracts';
import { parseJsonBody } from './json-body.js';
import { parse, parseCallId, parseIdempotencyKey, parsePreferWait, parseTraceparent } from './parse.js';

function problemOf(action: () => unknown): ProblemError {
  try {
    action();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('expected a ProblemError, and nothing was thrown');
}

describe('what is wrong', () => {
  it('describes a wrong header by its name, without NaN', () => {
    expect(problemOf(() => parseIdempotencyKey('two words\n')).message).toContain(': The header Idempotency-Key is not valid');
    expect(problemOf(() => parse(ROUTES.getCall.query, { wait: 'soon' }, 'query')).facts.errors).toEqual([
      { pointer: '/wait', message: 'expected a number' },
    ]);
    expect(problemOf(() => parse(ListCallsQuery, { limit: 'all' }, 'query')).facts.errors).toEqual([
      { pointer: '/limit', message: 'expected a number' },
    ]);
    expect(problemOf(() => parse(ROUTES.getCall.query, { wait: '-1' }, 'query')).message).toContain('>=0');
    expect(problemOf(() => parse(ListCallsQuery, { limit: '201' }, 'query')).message).toContain('<=200');
  });
});

describe('a JSON body', () => {
  it('accepts a JSON body nested 64 levels deep, and refuses 65', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parseJsonBody(nested(64))).not.toThrow();
    expect(problemOf(() => parseJsonBody(nested(65))).code).toBe('invalid_request');
    expect(problemOf(() => parseJsonBody(nested(20_000))).code).toBe('invalid_request');
  });

  it('refuses keys in a JSON body that pollute prototypes, at any depth', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"a":[{"\\u005f_proto__":1}]}', '{"a":{"constructor":{"prototype":{}}}}']) {
      expect([text, problemOf(() => parseJsonBody(text)).code]).toEqual([text, 'malformed_json']);
    }
    expect(parseJsonBody('{"constructor":"Ferrari"}')).toEqual({ constructor: 'Ferrari' });
  });

  it('refuses a JSON body that has no canonical form: halves of characters', () => {
    for (const text of ['"\\ud83d"', '{"a":["\\ude00\\ud83d"]}', '{"\\ud83d":1}']) {
      expect([text, problemOf(() => parseJsonBody(text)).code]).toEqual([text, 'invalid_request']);
    }
    expect(parseJsonBody('"\\ud83d\\ude00"')).toBe('😀');
  });

  it('reads the numbers of a JSON body as sent, with those beyond a double as texts of their digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.string(), (integer, beside) => {
        const text = `{"id":${integer},"beside":${JSON.stringify(`${beside}"12345678901234567`)}}`;
        expect(parseJsonBody(text)).toMatchObject({ id: String(Number(integer)) === String(integer) ? Number(integer) : String(integer) });
      }),
    );
    expect(parseJsonBody('{"arguments":{"id":1234567890123456789}}')).toEqual({ arguments: { id: '1234567890123456789' } });
    expect(parseJsonBody('[12345678901234567890.5,-1e999]')).toEqual(['12345678901234567890.5', '-1e999']);
    for (const text of ['[1e300]', '[47059760611876410]', '["12345678901234567"]', '[9007199254740992,1e22]']) {
      expect([text, parseJsonBody(text)]).toEqual([text, JSON.parse(text)]);
    }
  });

  it('refuses an object of more than 25,000 members where more members and items are allowed', () => {
    const members = (count: number) => `{"list":[${'1,'.repeat(60_000)}{${Array.from({ length: count }, (_, at) => `"${at}":1`).join()}}]}`;
    expect(() => parseJsonBody(members(25_000), WORKER_LIMITS.jsonParts)).not.toThrow();
    const { code, message } = problemOf(() => parseJsonBody(members(25_001), WORKER_LIMITS.jsonParts));
    expect([code, message]).toEqual(['payload_too_large', expect.stringContaining('expected at most 25000 members')]);
  });

  it('refuses a JSON body as malformed when it is not JSON, and as absent when it is empty', () => {
    expect(problemOf(() => parseJsonBody('{"a":')).code).toBe('malformed_json');
    expect(parseJsonBody('')).toBeUndefined();
  });
});

describe('parsing', () => {
  it('lists every fault of a request with its JSON Pointer', () => {
    const { facts, detail } = problemOf(() =>
      parse(SubmitCallBody, { tool: '', arguments: [1], timeouts: { runMs: -1 }, 'a/b': 1 }, 'body'),
    );
    expect(facts.errors?.map(({ pointer }) => pointer).sort()).toEqual(['/arguments', '/a~1b', '/timeouts/runMs', '/tool']);
    expect(detail).toContain('/tool: ');
  });

  it('lists a bounded number of faults of a request', () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_unused, n) => [`f${n}`, n]));
    const { facts, detail } = problemOf(() => parse(SubmitCallBody, body, 'body'));
    expect(facts.errors).toHaveLength(100);
    expect(detail).toMatch(/; and 4901 more$/);
  });

  it('answers 404 for an impossible call id', () => {
    for (const id of ['', '..', 'x', '07-short', '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V/..'])
      expect([id, problemOf(() => parseCallId(id)).code]).toEqual([id, 'resource_not_found']);
  });

  it('reads Prefer: wait among other preferences and caps it', () => {
    expect(parsePreferWait('wait=10')).toBe(10);
    expect(parsePreferWait('respond-async, wait=5; strict')).toBe(5);
    expect(parsePreferWait('wait="7"')).toBe(7);
    expect(parsePreferWait('wait=100000')).toBe(60);
    for (const none of [undefined, 'respond-async', 'wait', 'wait=x', 'await=3', 'wait=1.5']) expect(parsePreferWait(none)).toBeUndefined();
  });

  it('ignores a traceparent that is malformed', () => {
    const fine = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(parseTraceparent(fine)).toBe(fine);
    expect(parseTraceparent('hello')).toBeUndefined();
  });
});
