import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  CallId,
  ClientFrame,
  EventFilter,
  EventType,
  errorEntry,
  CALL_ERROR_CODES,
  REQUEST_ERROR_CODES,
  Label,
  Problem,
  ProblemError,
  ROUTES,
  SubmitCallBody,
  ToolName,
  Traceparent,
} from './index.js';

describe('the error catalog', () => {
  it('lists a fitting status and title for every code [CC-51]', () => {
    for (const code of [...CALL_ERROR_CODES, ...REQUEST_ERROR_CODES]) {
      const { status, title } = errorEntry(code);
      expect([code, status >= 400 && status < 600, title.length > 0]).toEqual([code, true, true]);
    }
  });

  it('makes problems that fit the published schema', () => {
    for (const code of [...CALL_ERROR_CODES, ...REQUEST_ERROR_CODES]) {
      const problem = new ProblemError(code, 'why', { callId: '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V', retryAfterMs: 5 }).toProblem('/v1/calls');
      expect(Problem.parse(problem)).toEqual(problem);
    }
  });
});

describe('the routes', () => {
  it('requires a scope of each route, except probes, metrics, documents, metadata, the dashboard and its login', () => {
    const open = Object.entries(ROUTES).filter(([, route]) => !('scope' in route));
    expect(open.map(([name]) => name).sort()).toEqual([
      'finishLogin',
      'getApiExplorer',
      'getAsyncApi',
      'getDashboard',
      'getMcpResource',
      'getOpenApi',
      'getOpenApiYaml',
      'getProtectedResource',
      'live',
      'loginOptions',
      'metrics',
      // A WebSocket sends its key in the upgrade or in the first frame.
      'openStream',
      'ready',
      // `signOut` ends the login of a cookie, or none.
      'signOut',
      'startLogin',
    ]);
  });
});

describe('the filter of events', () => {
  it('accepts every type in the filter of events', () => {
    expect(EventFilter.safeParse({ types: EventType.options }).success).toBe(true);
  });
});

describe('names', () => {
  it('accepts documented names, and none that could escape a folder or a key [CC-01]', () => {
    expect(CallId.safeParse('07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').success).toBe(true);
    for (const bad of ['', '.', '..', 'a/b', 'a\\b', 'a b', 'a:b', 'a\0b', 'é', 'x'.repeat(129)])
      expect([bad, Label.safeParse(bad).success]).toEqual([bad, false]);
    for (const bad of ['1bad name', '', 'a b', 'a'.repeat(65), '@x/y'])
      expect([bad, ToolName.safeParse(bad).success]).toEqual([bad, false]);
    expect(ToolName.safeParse('shell').success).toBe(true);
  });

  it('refuses a traceparent of zeros or another version', () => {
    const fine = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(Traceparent.safeParse(fine).success).toBe(true);
    expect(Traceparent.safeParse(`00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`).success).toBe(false);
    expect(Traceparent.safeParse(fine.replace(/^00/, 'ff')).success).toBe(false);
  });
});

describe('bodies and frames', () => {
  it('fills the defaults of a submission and refuses unknown fields', () => {
    expect(SubmitCallBody.parse({ tool: 'echo' })).toEqual({ tool: 'echo', arguments: {}, priority: 'normal', timeouts: {}, labels: {} });
    expect(SubmitCallBody.safeParse({ tool: 'echo', surprise: 1 }).success).toBe(false);
  });

  it('parses any frame of a client without throwing', () => {
    fc.assert(fc.property(fc.anything(), (frame) => expect(typeof ClientFrame.safeParse(frame).success).toBe('boolean')));
  });
});
