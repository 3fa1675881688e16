import { describe, expect, it } from '@jest/globals';
import type { SourceSummary } from '#contracts';
import { checkSources } from './check-sources.js';

describe('the check of sources', () => {
  const REFUSED = 'Connection refused at http://127.0.0.1:7699/mcp: is the server running?';
  const source = (more: Partial<SourceSummary>): SourceSummary => ({
    name: 'pets',
    kind: 'mcp',
    tenantId: 'default',
    origin: 'config',
    status: 'ok',
    tools: 3,
    pending: 0,
    ...more,
  });
  it.each<[string, Partial<SourceSummary>, string, string, string | undefined]>([
    ['works', {}, 'ok', '3 tools', undefined],
    ['never worked', { status: 'failed', tools: 0, error: REFUSED }, 'fail', REFUSED, 'see `toolyard sources list pets`'],
    [
      'does not work any more',
      { status: 'stale', error: REFUSED },
      'fail',
      `${REFUSED} Its last list of 3 tools is kept.`,
      'see `toolyard sources list pets`',
    ],
    ['changed', { status: 'pending', pending: 2 }, 'warn', '2 changed tools are unavailable', 'look at them: toolyard sources accept pets'],
    [
      'no worker has read',
      { status: 'connecting', tools: 0 },
      'warn',
      'no worker has read its tools yet',
      'see that a worker runs its pool',
    ],
    [
      'a person has to authorize',
      { status: 'failed', error: 'x', authorization: { state: 'needed' } },
      'fail',
      'a person has to authorize it',
      'toolyard sources authorize pets',
    ],
  ])('checks a source that %s', (_what, more, verdict, found, fix) => {
    expect(checkSources([source(more)])).toEqual([{ what: 'source pets', verdict, found, ...(fix === undefined ? {} : { fix }) }]);
  });
});
