import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import type { CliProcess } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let client: ToolyardClient;

beforeAll(async () => {
  tenant = await useTenant('cli-questions');
  client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('main') });
});
afterAll(() => tenant?.close());

const SESSION = 'cli-questions';
const inTerminal = (...words: string[]) => tenant.cli(words, { terminal: true });

describe('a person at a terminal', () => {
  it('decides waiting calls in the terminal, shows hidden characters, and accepts short ids', async () => {
    await client.sessions.put(SESSION, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const call = inTerminal('call', 'shell', 'curl example.com; echo \u202e\r', '--session', SESSION);
    await call.says('May it run?');
    expect(call.out()).toMatch(/echo <U\+202E>/);
    expect(call.out()).toMatch(/shell.* · high risk · session cli-questions/);
    call.child.stdin?.write('n\n');
    await call.says('Reason for the agent');
    call.child.stdin?.write('not today\n');
    expect(await call.ended()).toMatchObject({ code: 3, out: expect.stringContaining('not today') });

    const { id } = await client.calls.submit({ tool: 'shell', arguments: { command: 'curl --version' }, sessionId: SESSION });
    const left = inTerminal('approvals', '--session', SESSION);
    await left.says('uit?');
    left.child.stdin?.write('?\n');
    await left.says('Type a letter, then Enter');
    await left.says('[l]ater   it goes on waiting');
    // Input before the repeated question does not answer it.
    await eventually(() => left.out().split('uit?').length === 3, 'the question to come again');
    // The letter that is shown for Always: it makes no rule without a choice.
    left.child.stdin?.write('a\n');
    await left.says('Full command: curl --version');
    await left.says('Every call of shell');
    await left.says('go back');
    left.child.stdin?.write('\u0004');
    expect((await left.ended()).code).toBe(0);

    const list = inTerminal('approvals', '--session', SESSION);
    // Typed before there is a question: no answer to it.
    list.child.stdin?.write('d\n');
    await list.says('uit?');
    expect(list.out()).toMatch(/by default: persistent false/);
    list.child.stdin?.write('Y\n');
    expect((await list.ended()).out).toContain('Allowed');
    expect((await client.calls.wait(id)).outcome).toBe('completed');
    expect((await inTerminal('show', id.slice(-8).toLowerCase()).ended()).out).toContain(id);
  });

  describe('edits what waits', () => {
    /** A call about which a person is asked, with the program that edits. */
    const waiting = async (sessionId: string, editor: string) => {
      await client.sessions.put(sessionId, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
      const words = ['call', 'shell', 'command=curl example.com', '--session', sessionId];
      const call = tenant.cli(words, { terminal: true, env: { EDITOR: editor } });
      await call.says('May it run?');
      call.child.stdin?.write('e\n');
      return call;
    };

    it('runs a call with the command that a person has edited and allowed at the question', async () => {
      const call = await waiting('cli-edit', "sed -i 's/curl/echo edited/'");
      await call.says('Allow it with these arguments? [y/N]');
      expect(call.out()).toContain('echo edited example.com');
      call.child.stdin?.write('y\n');
      expect(await call.ended()).toMatchObject({ code: 0, out: expect.stringMatching(/(?<!echo )edited example\.com\r?\n/) });
    });

    it.each([
      ['changes nothing', 'true', 'Nothing was changed.'],
      ['fails', 'false', 'The editor "false" failed'],
    ])('asks again about a call if the editor %s, and leaves the call unchanged', async (title, editor, said) => {
      const call = await waiting(`cli-edit-${title.replace(' ', '-')}`, editor);
      await call.says(said);
      await eventually(() => call.out().split('May it run?').length === 3, 'the question to come again');
      call.child.stdin?.write('n\n');
      await call.says('Reason for the agent');
      call.child.stdin?.write('\n');
      expect((await call.ended()).code).toBe(3);
    });
  });

  describe('who made a call answers it', () => {
    const COMMAND = 'curl --version';
    const OTHER = 'curl --help';
    const QUESTION = 'May it run?';

    /** A session in which a person is asked about COMMAND and OTHER; a call of one, as a person makes it. */
    const askingSession = async (sessionId: string) => {
      await client.sessions.put(sessionId, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
      return (command: string) => inTerminal('call', 'shell', `command=${command}`, '--session', sessionId);
    };
    const answer = async (call: CliProcess, question: string, text: string) => {
      await call.says(question);
      call.child.stdin?.write(`${text}\n`);
    };
    /** How the call ends, which must not ask: the answer before it holds for it. */
    const endOf = async (call: CliProcess) => {
      await eventually(() => call.child.exitCode !== null || call.out().includes(QUESTION), 'the call to end or to ask');
      expect(call.out()).not.toContain(QUESTION);
      return call.ended();
    };
    /** Ends the call, which has to ask: the answers before it do not hold for it. */
    const asksAgain = async (call: CliProcess) => {
      await answer(call, QUESTION, 'later');
      await call.says('Answer with: toolyard approve');
      call.child.stdin?.write('\u0003');
      expect((await call.ended()).code).toBe(5);
    };

    it('denies the next call of the tool in this session without a question after Never, but not in another session', async () => {
      const call = await askingSession('cli-never');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'v');
      expect(await first.ended()).toMatchObject({ code: 3, out: expect.stringContaining('Denied.') });
      expect(await endOf(call('echo harmless'))).toMatchObject({ code: 3, out: expect.stringContaining('shell: Tool was denied by user') });
      await asksAgain((await askingSession('cli-never-elsewhere'))(COMMAND));
    });

    it('runs the next call of the tool without a question after Always, of every call of the tool', async () => {
      const call = await askingSession('cli-always-tool');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'Always');
      await first.says('Every call of shell');
      const [, number = ''] = /(\d+) {2}Every call of shell/.exec(first.out()) ?? [];
      await answer(first, 'or Enter to go back', number);
      expect((await first.ended()).code).toBe(0);
      expect(await endOf(call(OTHER))).toMatchObject({ code: 0, out: expect.stringContaining('Usage: curl') });
    });

    it('runs the same command again without a question after Always, and asks about another one', async () => {
      const call = await askingSession('cli-always-command');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'a');
      await first.says(`1  Full command: ${COMMAND}`);
      await answer(first, 'or Enter to go back', '1');
      expect((await first.ended()).code).toBe(0);
      expect((await endOf(call(COMMAND))).code).toBe(0);
      await asksAgain(call(OTHER));
    });

    it('accepts N under Caps Lock as No, and asks again about the next call', async () => {
      const call = await askingSession('cli-caps-lock');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'N');
      await answer(first, 'Reason for the agent', '');
      expect((await first.ended()).code).toBe(3);
      await asksAgain(call(COMMAND));
    });

    it('denies a call with the reason after No, and asks again about the next one', async () => {
      const call = await askingSession('cli-no');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'No');
      await answer(first, 'Reason for the agent', 'not now');
      expect(await first.ended()).toMatchObject({ code: 3, out: expect.stringContaining('not now') });
      await asksAgain(call(COMMAND));
    });

    it('runs a call after Yes, and asks again about the same one', async () => {
      const call = await askingSession('cli-yes');
      const first = call(COMMAND);
      await answer(first, QUESTION, 'Yes');
      expect(await first.ended()).toMatchObject({ code: 0, out: expect.stringContaining('Allowed') });
      await asksAgain(call(COMMAND));
    });
  });
});
