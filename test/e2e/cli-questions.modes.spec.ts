import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CliInstallation } from '../support/cli-installation.js';

let installation: CliInstallation;

beforeAll(async () => {
  installation = await CliInstallation.start();
});
afterAll(() => installation.close());

const SESSION = 'cli-questions';
const inTerminal = (...words: string[]) => installation.command(words, { terminal: true });

describe('a person at a terminal', () => {
  it('answers calls where they wait, sees what is hidden, and names calls by short ids', async () => {
    const { client } = installation;
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
