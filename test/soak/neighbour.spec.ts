import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { quantile } from '../bench/load.js';
import { Agent, TEST_KEY } from '../support/agent.js';
import { freePort } from '../support/free-port.mjs';
import { startTestCluster } from '../support/test-cluster.js';
import { ATTACKS } from './attacker.fixture.mjs';
import { InspectedHeap } from './inspected-heap.js';

const CALLS = Number(process.env['SOAK_CALLS'] ?? 200);
const ONLY = process.env['SOAK_ATTACKS'];
const PROFILES = process.env['SOAK_PROFILES'];
const ATTACKER_KEY = 'key-of-the-hostile-tenant';
const FIXTURE = resolve('test/soak/attacker.fixture.mjs');

/**
 * Calls of one tenant beside each attack of another tenant with two requests at a time: SOAK_CALLS (default 200) calls of `echo`, one
 * after the other. Prints p50 and p99 alone and beside each attack, and the longest hold of the gateway's event loop. SOAK_ATTACKS: only
 * attacks whose names contain this text. SOAK_PROFILES: folder for a CPU profile of the gateway beside each attack. Asserts that every
 * call completes.
 */
it('answers a tenant while another one sends heavy requests', async () => {
  const inspected = await freePort();
  const sha256 = createHash('sha256').update(ATTACKER_KEY).digest('hex');
  const cluster = await startTestCluster({
    config: { keys: [{ id: 'hostile', sha256, tenant: 'hostile', scopes: ['submit', 'read', 'cancel'] }] },
    env: { KEY_RATE_PER_MINUTE: '1000000000' },
    gatewayEnv: { NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` },
    lists: true,
    checked: false,
  });
  const gateway = await InspectedHeap.of(inspected);
  await gateway.evaluate(
    `globalThis.delay = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 5 }); delay.enable()`,
  );
  const agent = new Agent(cluster.gateways[0]?.url ?? '', TEST_KEY);
  const measure = async () => {
    await gateway.evaluate('delay.reset()');
    const latencies: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const from = performance.now();
      expect(await agent.run('echo', { text: String(n) })).toMatchObject({ outcome: 'completed' });
      latencies.push(performance.now() - from);
    }
    latencies.sort((a, b) => a - b);
    const held = Number(await gateway.evaluate('delay.max')) / 1e6;
    return `p50 ${shown(quantile(latencies, 0.5))}, p99 ${shown(quantile(latencies, 0.99))}, longest hold ${shown(held)}`;
  };
  await measure();
  process.stderr.write(`alone: ${await measure()}\n`);
  for (const name of Object.keys(ATTACKS)) {
    if (ONLY !== undefined && !name.includes(ONLY)) continue;
    const attacker = spawn(process.execPath, [FIXTURE, agent.url, ATTACKER_KEY, name], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    attacker.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(attacker.stdout, 'data');
    const stop = PROFILES === undefined ? undefined : await gateway.profile();
    const result = await measure();
    if (stop !== undefined) writeFileSync(join(PROFILES ?? '', `${name}.cpuprofile`), await stop());
    attacker.kill('SIGTERM');
    await once(attacker, 'close');
    // At once: also a run that is given up leaves figures.
    process.stderr.write(`${name}: ${result}; answers ${said.split('\n')[1]}\n`);
    await cluster.endCallsOf('hostile');
  }
  process.stderr.write(`alone: ${await measure()}\n`);
  gateway.close();
  await cluster.close();
}, 3_600_000);

function shown(ms: number): string {
  return `${ms.toFixed(0)} ms`;
}
