import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { Session } from '#contracts';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const Compose = z.object({ services: z.object({ gateway: z.object({ environment: z.record(z.string(), z.string()) }) }) });
const Deployment = z.object({
  kind: z.literal('Deployment'),
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ env: z.array(z.object({ name: z.string(), value: z.string().optional() })) })) }),
    }),
  }),
});

const environments = {
  'no file at all': {},
  'compose.yaml': Compose.parse(parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true })).services.gateway.environment,
  'kubernetes/base': Object.fromEntries(
    parseAllDocuments(readFileSync('deploy/kubernetes/base/gateway.yaml', 'utf8'))
      .flatMap((document) => Deployment.safeParse(document.toJS()).data ?? [])
      .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env))
      .flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  ),
};

describe.each<[string, Record<string, string>]>(Object.entries(environments))('a gateway with the settings of %s', (_file, env) => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    const posture = Object.entries(env).filter(([name]) => name.startsWith('DEFAULT_'));
    toolyard = await startTestCluster({
      gatewayEnv: { DEFAULT_AUTONOMY: '', DEFAULT_PERMISSION_MODE: '', ...Object.fromEntries(posture) },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(() => toolyard?.close());

  it('gives a new session the supervised posture by the shipped settings [PP-01]', async () => {
    const { body } = await agent.get<Session>('/v1/sessions/new');
    expect(body.posture).toEqual({ autonomy: 'supervised', permissionMode: 'workspace-write' });
  });

  it('runs work in the workspace and asks a person about every command, until a session changes it', async () => {
    expect((await agent.run('file_write', { path: 'a.txt', content: 'a' })).outcome).toBe('completed');
    const { body: asked } = await agent.submit('shell', { command: 'ls' });
    expect(asked).toMatchObject({ status: 'waiting_approval', decision: { effect: 'ask' } });
    await agent.request('PUT', '/v1/sessions/free', { posture: { autonomy: 'full', permissionMode: 'danger-full-access' } });
    expect((await agent.run('shell', { command: 'cat a.txt || true' }, { sessionId: 'free' })).outcome).toBe('completed');
  });
});
