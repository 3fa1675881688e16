import { expect, it } from '@jest/globals';
import { FailureLog } from './failure-log.js';

function logged(): { lines: string[]; log: FailureLog } {
  const lines: string[] = [];
  return { lines, log: new FailureLog({ tenantId: 't', name: 'broken' }, (message) => void lines.push(message)) };
}

it('logs a failing source once, then rarer and rarer with the number of failures, and when it works again', () => {
  const { lines, log } = logged();
  log.works();
  for (let n = 0; n < 50; n++) log.failed('Connection refused');
  log.works();
  log.works();
  log.failed('Connection refused');
  expect(lines).toEqual([
    'source broken fails: Connection refused',
    'source broken is still failing (12×): Connection refused',
    'source broken is still failing (24×): Connection refused',
    'source broken is still failing (48×): Connection refused',
    'source broken works again after 50 failures',
    'source broken fails: Connection refused',
  ]);
});

it('logs at once that a source fails for another reason, other than for a time that runs down', () => {
  const { lines, log } = logged();
  for (const reason of ['refused', 'refused', 'it is connected again in 57 s', 'it is connected again in 9 s', 'HTTP 401', 'HTTP 403'])
    log.failed(reason);
  expect(lines).toEqual([
    'source broken fails: refused',
    'source broken is still failing (3×): it is connected again in 57 s',
    'source broken is still failing (5×): HTTP 401',
    'source broken is still failing (6×): HTTP 403',
  ]);
});
