import { describe, expect, it } from '@jest/globals';
import type { RedisServerInfo, ToolDescriptor, WorkerStatus } from '#contracts';
import { checkCallBytes, checkPools, checkRedis, checkWorkers } from './check.js';

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
  ])('checks a host over ssh that %s', (_what, workers, verdict, found) => {
    const hosts = checkWorkers(workers).filter(({ what }) => what === 'host build');
    expect(hosts).toEqual([expect.objectContaining({ verdict, found })]);
  });
});

it('warns where a worker limits the calls of a tenant differently from the gateways', () => {
  const release = { version: '1.0.0', protocol: 2, oldestCompatible: 2 };
  const gateway = { kind: 'gateway' as const, id: 'g', ...release, tenantCallBytes: 20_000_000 };
  const alike = { ...gateway, kind: 'worker' as const, id: 'w' };
  const projector = { kind: 'projector' as const, id: 'p', ...release };
  expect(checkCallBytes({ processes: [gateway, alike, projector] })).toMatchObject([{ verdict: 'ok' }]);
  const other = { ...alike, tenantCallBytes: 30_000_000 };
  expect(checkCallBytes({ processes: [gateway, other, projector] })).toMatchObject([
    { verdict: 'warn', found: '20000000: gateway g; 30000000: worker w' },
  ]);
  expect(checkCallBytes({ processes: [projector] })).toEqual([]);
});

describe('the check of the sandbox of a pool', () => {
  it.each([
    [{ ok: true, isolation: 'namespaces' }, 'ok', 'commands are isolated by bubblewrap'],
    [{ ok: true, isolation: 'namespaces', reason: 'no filter' }, 'warn', 'commands are isolated by bubblewrap, but no filter'],
    [{ ok: true, isolation: 'none', reason: 'no bwrap' }, 'warn', 'commands run without isolation: no bwrap'],
    [{ ok: false, isolation: 'none', reason: 'no bwrap' }, 'fail', 'bubblewrap: no bwrap'],
  ])('reports of the sandbox %j: %s', (sandbox, verdict, found) => {
    const state = { backend: 'bubblewrap', ...sandbox };
    const shell = { id: 'w1', draining: false, pools: [{ pool: 'shell', slots: 1, running: 0 }], sandbox: { shell: state } };
    const checks = checkPools([shell as unknown as WorkerStatus], [], [{ name: 'shell', pool: 'shell' } as unknown as ToolDescriptor]);
    expect(checks).toContainEqual(expect.objectContaining({ what: 'sandbox shell', verdict, found }));
  });
});

describe('the check of replicas', () => {
  const REDIS = { server: 'redis', version: '7.2.4', mode: 'sentinel', role: 'master', replicas: 1 } as RedisServerInfo;
  it.each([
    ['a master that refuses writes without replicas', 1, 'replicated', []],
    ['a master without replicas that goes on writing', 0, 'replicated', ['warn']],
    ['a Redis that does not show the setting', undefined, 'replicated', []],
    ['a Redis for whose replicas nothing waits', 0, 'local', []],
  ] as const)('checks min-replicas-to-write of %s', (_what, minReplicasToWrite, durability, verdicts) => {
    const facts = { ...REDIS, ...(minReplicasToWrite === undefined ? {} : { minReplicasToWrite }) };
    const checks = checkRedis(facts, durability).filter(({ what }) => what === 'redis min-replicas-to-write');
    expect(checks.map(({ verdict }) => verdict)).toEqual(verdicts);
  });
});
