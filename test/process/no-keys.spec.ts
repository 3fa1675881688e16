import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readGatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestGateway } from '../support/gateway.js';

it('removes the last key of a running gateway by a config file with `keys: []`', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-no-keys-'));
  const path = join(folder, 'toolyard.json');
  const save = (keys: readonly object[]) => writeFileSync(path, JSON.stringify({ keys }));
  const key = 'the-only-key-of-this-gateway';
  save([{ id: 'only', key, tenant: 'no-keys' }]);
  const { keys, file } = readGatewayConfig({ TOOLYARD_CONFIG: path });
  const gateway = await startTestGateway('no-keys', { keys, ...(file === undefined ? {} : { file }) });
  try {
    const agent = new Agent(gateway.url, key);
    expect((await agent.get('/v1/whoami')).status).toBe(200);
    save([]);
    await eventually(async () => (await agent.get('/v1/whoami')).status === 401, 'the key to be refused');
    expect((await agent.get('/readyz')).body).toEqual({ status: 'ok' });
    save([{ id: 'only', key, tenant: 'no-keys' }]);
    await eventually(async () => (await agent.get('/v1/whoami')).status === 200, 'the key to be known');
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true });
  }
});
