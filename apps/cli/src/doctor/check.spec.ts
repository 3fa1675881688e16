import { describe, expect, it } from '@jest/globals';
import type { WorkerStatus } from '#contracts';
import { checkWorkers } from './check.js';

const BUILD = { name: 'build', tenant: 'default', agents: ['*'], sessions: ['build-*'] };
const worker = (id: string, hosts: WorkerStatus['hosts'], pool = 'shell') =>
  ({ id, draining: false, pools: [{ pool }], hosts }) as unknown as WorkerStatus;
const WHOSE = 'commands of agents *, sessions build-*';

describe('the check of hosts over ssh', () => {
  it.each([
    ['is well where each worker reaches the host', [worker('w1', [{ ...BUILD, ok: true }])], 'ok', `reached over ssh, for ${WHOSE}`],
    [
      'fails where a worker cannot use it',
      [worker('w1', [{ ...BUILD, ok: true }]), worker('w2', [{ ...BUILD, ok: false, reason: 'it refuses connections' }])],
      'fail',
      `worker w2 cannot use it for ${WHOSE}: it refuses connections`,
    ],
    [
      'fails where a worker for commands does not know it',
      [worker('w1', [{ ...BUILD, ok: true }]), worker('w2', [])],
      'fail',
      `w2 does not know it, and refuses ${WHOSE}`,
    ],
    [
      'asks nothing of workers that run no commands',
      [worker('w1', [{ ...BUILD, ok: true }]), worker('w2', [], 'read')],
      'ok',
      `reached over ssh, for ${WHOSE}`,
    ],
  ])('%s', (_what, workers, verdict, found) => {
    const hosts = checkWorkers(workers).filter(({ what }) => what === 'host build');
    expect(hosts).toEqual([expect.objectContaining({ verdict, found })]);
  });
});
