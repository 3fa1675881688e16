import { BadRequestException, HttpException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ArchiveUnavailable, EventLogFull, EventLogTenantFull, EventLogUnavailable } from '#event-log';
import { ProblemError } from '#contracts';
import { toProblem } from './to-problem.js';

const framework = (statusCode: number) => Object.assign(new Error('said by the framework'), { statusCode, code: 'FST_ERR_X' });

describe('the problem that an error is shown as', () => {
  it.each([
    ['an archive that is away', new ArchiveUnavailable('ECONNREFUSED'), 503, 'unavailable'],
    ['a full log', new EventLogFull(), 503, 'overloaded'],
    ['a tenant without room in the log', new EventLogTenantFull(), 429, 'quota_exceeded'],
    ['a full Redis', new Error("OOM command not allowed when used memory > 'maxmemory'."), 503, 'overloaded'],
    ['a log out of reach', new EventLogUnavailable('gone'), 503, 'unavailable'],
    ['a closed connection', new Error('Connection is closed.'), 503, 'unavailable'],
    ['a connection not ready', new Error("Stream isn't writeable and enableOfflineQueue options is false"), 503, 'unavailable'],
    ['a failover', new Error("READONLY You can't write against a read only replica."), 503, 'unavailable'],
    ['no such route', new NotFoundException('Cannot GET /x'), 404, 'resource_not_found'],
    ['a body over the limit', new HttpException('too large', 413, { cause: framework(413) }), 413, 'payload_too_large'],
    ['another media type', framework(415), 415, 'unsupported_media_type'],
    ['a malformed URL', new BadRequestException('bad', { cause: framework(400) }), 422, 'invalid_request'],
    ['an HTTP exception without a cause', new HttpException('x', 415), 415, 'unsupported_media_type'],
  ])('shows %s as a problem with its status and code', (_name, error, status, code) => {
    const problem = toProblem(error);
    expect([problem.status, problem.code]).toEqual([status, code]);
    expect([429, 503].includes(status)).toBe(problem.facts.retryAfterMs !== undefined);
  });

  it('passes on an error that is a problem unchanged', () => {
    const problem = new ProblemError('conflict', 'why');
    expect(toProblem(problem)).toBe(problem);
    expect(toProblem(new HttpException('x', 409, { cause: problem }))).toBe(problem);
  });

  it('hides the details of an unexpected error [CC-50]', () => {
    for (const error of [
      new TypeError('secret path /root/x'),
      'secret',
      undefined,
      null,
      framework(500),
      new HttpException('secret', 500),
    ]) {
      const problem = toProblem(error);
      expect([problem.code, JSON.stringify(problem.toProblem()).includes('secret')]).toEqual(['internal', false]);
    }
  });
});
