import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
beforeAll(async () => {
  tenant = await useTenant('examples');
});
afterAll(() => tenant.close());

function example(name: string): Promise<{ code: number | null; said: string }> {
  const child = spawn('npm', ['run', '--silent', `example:${name}`], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOOLYARD_URL: tenant.url,
      TOOLYARD_API_KEY: tenant.keyOf('main'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (piece) => (said += String(piece)));
  child.stderr.on('data', (piece) => (said += String(piece)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

describe.each(['anthropic', 'openai'])('the agent with the tool shapes of %s', (name) => {
  it('runs the calls of an agent in its tool shapes, corrects a wrong one from its error text, and uses the results', async () => {
    const { code, said } = await example(name);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('today is ') });
    expect(said).toContain("missing 'command' parameter");
    expect(said.trim().split('\n').at(-1)).toBe('model: The poem has 2 lines.');

    const client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('main') });
    const { calls } = await client.calls.list({ limit: 4 });
    expect(calls.map(({ outcome }) => outcome)).toEqual(['completed', 'failed', 'completed', 'completed']);
  });
});
