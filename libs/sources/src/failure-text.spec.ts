import { expect, it } from '@jest/globals';
import { AddressFault } from './address-fault.js';
import { failureText } from './failure-text.js';

it('states once why a source failed, for any error', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:9');
  const failed = new TypeError('fetch failed', { cause: refused });
  expect(failureText(new Error('Probe failed: fetch failed', { cause: failed }))).toBe(
    'Probe failed: fetch failed: connect ECONNREFUSED 127.0.0.1:9',
  );
  expect(failureText(new Error(`Closed: ${refused.message}`, { cause: refused }))).toBe('Closed: connect ECONNREFUSED 127.0.0.1:9');
  expect(failureText('gone')).toBe('gone');
  const everywhere = new Error('Closed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) });
  expect(failureText(everywhere)).toBe('Closed: ECONNREFUSED');
  const loop = new Error('a');
  loop.cause = new Error('b', { cause: loop });
  expect(failureText(loop)).toBe('a: b');
});

it('explains an unreachable address in one sentence, without the library’s wording', () => {
  const fault = new AddressFault('Connection refused at http://x/: is the server running?', { cause: new Error('fetch failed') });
  expect(failureText(new Error('Version negotiation probe failed: fetch failed', { cause: fault }))).toBe(fault.message);
});
