import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Problem, Session } from '#contracts';
import { startToolyard, type Toolyard } from '../support/toolyard.js';

const ATTACKER = 'key-of-the-tenant-that-attacks';
const NEIGHBOUR = 'key-of-the-tenant-beside-it';
/** Each answer here takes some milliseconds; with the attack at work it took seconds, or did not come at all. */
const DEADLINE_MS = 20_000;

describe('patterns that a tenant sets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-patterns-'));
  let toolyard: Toolyard;
  let url: string;

  beforeAll(async () => {
    const scopes = ['submit', 'read', 'cancel', 'approve', 'admin'];
    const config = join(folder, 'toolyard.json');
    const keys = [
      { id: 'attacker', key: ATTACKER, tenant: 'attacker', scopes },
      { id: 'neighbour', key: NEIGHBOUR, tenant: 'neighbour', scopes },
    ];
    writeFileSync(config, JSON.stringify({ keys }));
    toolyard = await startToolyard({ env: { TOOLYARD_CONFIG: config } });
    url = toolyard.gateways[0]?.url ?? '';
  });
  afterAll(async () => {
    // A gateway that computes does not hear that it should end.
    for (const gateway of toolyard.gateways) gateway.signal('SIGKILL');
    await toolyard.close();
    rmSync(folder, { recursive: true });
  });

  async function send<T>(key: string, method: string, path: string, body: object): Promise<{ status: number; body: T }> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=10' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
  const put = <T = Session>(session: string, body: object) => send<T>(ATTACKER, 'PUT', `/v1/sessions/${session}`, body);
  const call = (key: string, tool: string, args: object, sessionId?: string) =>
    send<Call & { detail?: string }>(key, 'POST', '/v1/calls', { tool, arguments: args, ...(sessionId ? { sessionId } : {}) });
  const refused = async (session: string, grants: object): Promise<Problem> => {
    const { status, body } = await put<Problem>(session, { grants });
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    return body;
  };

  it('do not stop another tenant, however a glob and a path are made to backtrack', async () => {
    expect((await put('stars', { grants: { deniedPaths: { read: ['*a*a*a*a*a*a*b'] } } })).status).toBe(200);
    const attack = call(ATTACKER, 'file_read', { path: 'a'.repeat(90) }, 'stars');
    expect((await call(NEIGHBOUR, 'echo', { text: 'undisturbed' })).body).toMatchObject({ outcome: 'completed' });
    expect((await attack).body).toMatchObject({ status: 'ended', decision: { effect: 'allow' } });
    const denied = await call(ATTACKER, 'file_read', { path: `${'a'.repeat(90)}b` }, 'stars');
    expect(denied.body.detail).toContain('was denied for this session by *a*a*a*a*a*a*b');
  });

  it('are refused when they are set, with the field and what was expected, before they cost anything', async () => {
    const large = Array.from({ length: 500 }, (_, index) => `(?:a{90}b{90}c{90}d{90}e{90}){2}${index}`);
    const sent = [
      refused('many', { allowedCommands: large }),
      refused('long', { allowedCommands: ['a*'.repeat(450_000 / 2)] }),
      refused('counts', { allowedCommands: ['(a{1000}){1000}'] }),
    ];
    expect((await call(NEIGHBOUR, 'echo', { text: 'undisturbed' })).body).toMatchObject({ outcome: 'completed' });
    const [many, long, counts] = await Promise.all(sent);
    expect(many?.errors).toEqual([
      { pointer: '/grants/allowedCommands/11', message: 'expected expressions of at most 10000 instructions in the whole list' },
    ]);
    expect(long?.errors).toEqual([{ pointer: '/grants/allowedCommands/0', message: 'expected at most 4096 characters; received 450000' }]);
    expect(counts?.errors).toEqual([{ pointer: '/grants/allowedCommands/0', message: 'expected smaller counts of repetition' }]);
  });

  it('are compiled once: calls under the longest list that may be set are answered beside others', async () => {
    const allowedCommands = Array.from({ length: 500 }, (_, index) => `git (a|b)${index}( .*)?`);
    const posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
    expect((await put('longest', { posture, grants: { allowedCommands } })).status).toBe(200);
    const attack = Array.from({ length: 40 }, () => call(ATTACKER, 'shell', { command: `echo ${'x'.repeat(400)}` }, 'longest'));
    expect((await call(NEIGHBOUR, 'echo', { text: 'undisturbed' })).body).toMatchObject({ outcome: 'completed' });
    for (const { body } of await Promise.all(attack)) expect(body.status).toBe('waiting_approval');
    const { body } = await call(ATTACKER, 'shell', { command: 'git a499 x' }, 'longest');
    expect(body.decision.reasons.some(({ reason }) => reason.includes('allowed commands: git (a|b)499'))).toBe(true);
  });

  it.each([
    ['tools', { tools: ['@builtin/!(a)'] }, '/tools/0'],
    ['allowedTools', { allowedTools: ['file_[!r]*'] }, '/allowedTools/0'],
    ['hooks', { hooks: [{ name: 'h', on: 'before', url: 'https://example.com', match: ['{1..9}'] }] }, '/hooks/0/match/0'],
    ['grants', { grants: { allowedPaths: { write: ['fine', 'a(b|c)'] } } }, '/grants/allowedPaths/write/1'],
  ])('name the field that is refused: %s', async (_name, body, pointer) => {
    const answer = await put<Problem>('fields', body);
    expect([answer.status, answer.body.errors]).toEqual([422, [{ pointer, message: expect.stringMatching(/^expected .* in place of/) }]]);
  });
});
