import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { startCli } from '../support/cli.js';
import { cleanUp } from '../support/standalone.js';
import { TEST_KEY, startTestCluster, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let client: ToolyardClient;

beforeAll(async () => {
  toolyard = await startTestCluster({ lists: true });
  client = new ToolyardClient({ baseUrl: url(), apiKey: TEST_KEY });
});
afterAll(async () => {
  await toolyard.close();
  await cleanUp();
});

const url = () => toolyard.gateways[0]!.url;
const SESSION = 'cli-questions';
const inTerminal = (...words: string[]) => startCli(words, { url: url(), terminal: true });

describe('a person at a terminal', () => {
  it('answers calls where they wait, sees what is hidden, and names calls by short ids', async () => {
    await client.sessions.put(SESSION, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const call = inTerminal('call', 'shell', 'curl example.com; echo \u202e\r', '--session', SESSION);
    await call.says('May it run?');
    expect(call.out()).toMatch(/echo <U\+202E>/);
    call.child.stdin?.write('n\n');
    await call.says('Reason for the agent');
    call.child.stdin?.write('not today\n');
    expect(await call.ended()).toMatchObject({ code: 3, out: expect.stringContaining('not today') });

    const { id } = await client.calls.submit({ tool: 'shell', arguments: { command: 'curl --version' }, sessionId: SESSION });
    const left = inTerminal('approvals', '--session', SESSION);
    await left.says('uit?');
    left.child.stdin?.write('A\n');
    await left.says('go back');
    left.child.stdin?.write('\u0004');
    expect((await left.ended()).code).toBe(0);

    const list = inTerminal('approvals', '--session', SESSION);
    await list.says('uit?');
    list.child.stdin?.write('a\n');
    expect((await list.ended()).out).toContain('Allowed');
    expect((await client.calls.wait(id)).outcome).toBe('completed');
    expect((await inTerminal('show', id.slice(-8).toLowerCase()).ended()).out).toContain(id);
  });
});
