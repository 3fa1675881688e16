import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { eventually } from '../support/eventually.js';
import { freshDirectory } from '../support/standalone.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let client: ToolyardClient;

beforeAll(async () => {
  tenant = await useTenant('cli');
  client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('main') });
});
afterAll(() => tenant?.close());

const start: Tenant['cli'] = (...command) => tenant.cli(...command);
const run = (...command: Parameters<Tenant['cli']>) => tenant.cli(...command).ended();
/** A call of `sleep` waits without a worker, once it has started. */
const suspendedIn = async (sessionId: string) => (await client.calls.list({ sessionId })).calls.some(({ suspended }) => suspended === true);

describe('toolyard call', () => {
  it('streams the output of the tool in toolyard call, without duplicates', async () => {
    const cli = start(['call', 'shell', 'command=echo one; until [ -e go-on ]; do sleep 0.05; done; echo two']);
    await cli.says('one\n');
    expect(cli.out()).toBe('one\n');
    writeFileSync(join(tenant.workspaceOf(), 'go-on'), '');
    expect(await cli.ended()).toEqual({ code: 0, out: 'one\ntwo\n', err: '' });
  });

  it('ends toolyard call with a code for each outcome', async () => {
    await client.sessions.put('cli-locked', { posture: { autonomy: 'read_only', permissionMode: 'read-only' } });
    const cases: [number, string[]][] = [
      [0, ['call', 'sleep', 'ms=1']],
      [1, ['call', 'shell', 'command=exit 3']],
      [1, ['call', 'no_such_tool']],
      [1, ['call', 'sleep', 'ms=soon']],
      [2, ['call']],
      [2, ['call', 'echo', 'nonsense']],
      [2, ['call', 'echo', 'list:=[1']],
      [3, ['call', 'shell', 'command=touch x', '--session', 'cli-locked']],
      [4, ['call', 'shell', 'command=sleep 60', '--timeout', '300ms']],
      [8, ['show', '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V']],
      [8, ['--key', 'not-a-key-of-anybody', 'tools']],
      [7, ['--url', 'http://127.0.0.1:1', 'call', 'echo']],
    ];
    const codes = await Promise.all(cases.map(async ([, words]) => (await run(words)).code));
    expect(codes.map((code, index) => [code, cases[index]?.[1].join(' ')])).toEqual(cases.map(([code, words]) => [code, words.join(' ')]));
  });

  it('reads arguments of toolyard call from words, JSON and stdin, in the tool’s types', async () => {
    const argumentsOf = async (words: string[], input?: string) => {
      const { out } = await run(['call', 'echo', ...words, '--json'], input === undefined ? {} : { input });
      return (JSON.parse(out) as { arguments: unknown }).arguments;
    };
    expect(await argumentsOf(['name=a=b', 'list:=[1, {"x": null}]', 'n=5'])).toEqual({ name: 'a=b', list: [1, { x: null }], n: '5' });
    expect(await argumentsOf(['{"a": {"b": 1}}'])).toEqual({ a: { b: 1 } });
    expect(await argumentsOf(['-'], '{"from": "stdin"}')).toEqual({ from: 'stdin' });
    expect(await run(['call', 'sleep', 'duration_ms=1'])).toMatchObject({ code: 0, out: 'Slept for 1ms\n' });
  });

  it.each([
    [0, 'calls', ''],
    [1, 'export', 'toolyard: The output is not complete: its reader went away\n'],
  ])('ends toolyard call with %i when the reader of %s disconnects', async (code, command, err) => {
    await client.calls.run({ tool: 'echo', arguments: {} });
    const cli = start([command], { keepsInput: true });
    cli.child.stdout?.destroy();
    expect(await cli.ended()).toMatchObject({ code, err });
  });

  it('reports a fault of the arguments of toolyard call once', async () => {
    const { err } = await run(['call', 'shell', 'commnd=ls']);
    expect(err).toContain("missing 'command' parameter");
    expect(err.match(/missing 'command'/g)).toHaveLength(1);
  });

  it('names the tool that is meant before it looks at the arguments of toolyard call', async () => {
    const expected = { code: 2, err: expect.stringContaining('There is no tool "shel" for this key; did you mean shell?') };
    expect(await run(['call', 'shel', 'ls'])).toMatchObject(expected);
    expect(await run(['quote', 'shel', 'ls'])).toMatchObject(expected);
    expect(await run(['tools', 'shel'])).toMatchObject(expected);
  });

  it('states the origin of a wrong key of the command line tool', async () => {
    const wrong = await run(['calls'], { env: { TOOLYARD_API_KEY: 'not-a-key-of-anyone' } });
    expect(wrong).toMatchObject({ code: 8, err: expect.stringContaining('The key is from TOOLYARD_API_KEY.') });
    expect((await run(['calls', '--key', 'not-a-key-of-anyone'])).err).toContain('The key is from --key.');
  });

  it('prints one JSON text a line in toolyard call with --json, also for errors', async () => {
    const { out } = await run(['call', 'shell', 'command=echo hi', '--json']);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({ tool: 'shell', outcome: 'completed', result: { isError: false } });
    const refused = await run(['call', 'no_such_tool', '--json']);
    expect(JSON.parse(refused.out)).toMatchObject({ error: { code: 'not_found', callId: expect.any(String) } });
  });

  it('accepts the tool names of a dialect, and a user for the call, in toolyard call', async () => {
    const kiro = ['--dialect', 'kiro'];
    expect((await run(['tools', ...kiro])).out).toMatch(/^use_aws +shell /m);
    expect(await run(['call', 'execute_cmd', 'echo hi', ...kiro, '--json'])).toMatchObject({ code: 0, out: expect.stringContaining('hi') });
    expect(await run(['tools', 'use_aws', ...kiro])).toMatchObject({ code: 0 });
    expect((await run(['tools'])).out).not.toContain('use_aws');
    expect(await run(['call', 'echo', '--dialect', 'klingon'])).toMatchObject({ code: 2, err: expect.stringContaining('claude-code') });
    const { out } = await run(['call', 'echo', '--user', 'alice', '--json']);
    expect(JSON.parse(out)).toMatchObject({ userId: 'alice' });
  });

  it('prints coloured output of a tool once, without control sequences for pipe and terminal', async () => {
    const hostile = String.raw`printf "\033]0;title\007\033[2J\033[31mred\033[0m \033]52;c;cHduZWQ=\007\302\233?25l\342\200\256txt.exe\r\033[Kover\n"`;
    const piped = await run(['call', 'shell', `command=${hostile}`]);
    expect(piped.out).toContain('\u001b[31mred\u001b[0m');
    expect(piped.out.split('txt.exe')).toHaveLength(2);
    for (const command of ['\u001b[2J', '\u001b[K', '\u001b]', '\u0007', '\u009b', '\u202e']) expect(piped.out).not.toContain(command);
    const shown = await run(['call', 'shell', `command=${hostile}`], { terminal: true, env: { NO_COLOR: '1' } });
    const beyondSpinner = shown.out.replaceAll('\r\u001b[2K', '');
    for (const command of ['\u001b', '\u0007', '\u009b', '\u202e']) expect(beyondSpinner).not.toContain(command);
    expect(beyondSpinner.replaceAll('\r\n', '\n')).toMatch(/red .*txt\.exe\nover\n/s);
  });

  it('draws the file changes of a call in toolyard call as in show, without effects on a terminal; --json has them whole', async () => {
    const sessionId = 'cli-changes';
    const write = (content: string) => client.calls.run({ tool: 'file_write', arguments: { path: 'a.sh', content }, sessionId });
    const edit = (from: string, to: string) => [
      'call',
      'file_edit',
      'path=a.sh',
      `old_text=${from}`,
      `new_text=${to}`,
      '--session',
      sessionId,
    ];
    await write('one\n\u001b[2Jp\u0430ypal.com\u0007\u202e\nthree\n');
    const diff = (removed: string, added: string) =>
      `a.sh +1 -1\n@@ -1,3 +1,3 @@\n one\n p\u0430ypal<Latin and Cyrillic: U+0430>.com\n-${removed}\n+${added}\n`;
    const result = (removed: string, added: string) => `Replaced 1 line(s) with 1 line(s) in a.sh\n${diff(removed, added)}`;
    expect(await run(edit('three', 'four'))).toMatchObject({ code: 0, out: result('three', 'four') });
    const plain = await run(edit('four', 'five'), { terminal: true, env: { NO_COLOR: '1' } });
    expect(plain.out.replaceAll('\r\u001b[2K', '').replaceAll('\r\n', '\n')).toContain(diff('four', 'five'));
    const coloured = await run(edit('five', 'six'), { terminal: true });
    for (const line of ['\u001b[31m-five\u001b[39m', '\u001b[32m+six\u001b[39m']) expect(coloured.out).toContain(line);
    for (const effect of ['\u001b[2J', '\u0007', '\u202e']) expect(plain.out + coloured.out).not.toContain(effect);

    const json = await run([...edit('six', 'seven'), '--json']);
    expect(json.out.trim().split('\n')).toHaveLength(1);
    const call = JSON.parse(json.out) as { id: string };
    expect(call).toMatchObject({ result: { details: { diff: { path: 'a.sh', added: 1, removed: 1 } } } });
    expect((await run(['show', call.id])).out.split('\n\n').at(-1)).toBe(result('six', 'seven'));
    await write('a\n'.repeat(150));
    const lines = (await run(['call', 'file_write', 'path=a.sh', `content=${'b\n'.repeat(150)}`, '--session', sessionId])).out.split('\n');
    expect(lines.slice(-2)).toEqual([expect.stringMatching(/^… 102 more lines\. All of them: toolyard show \S+ --json$/), '']);
  });

  it('shows a person that toolyard call waits, and cancels at Ctrl-C', async () => {
    const cli = start(['call', 'sleep', 'duration_ms=600000', '--session', 'cli-waits'], { terminal: true });
    await cli.says('⠙');
    // Calls that have not started have no time in the list.
    await eventually(() => suspendedIn('cli-waits'), 'the call to start');
    cli.child.stdin?.write('\u0003');
    await cli.says('Cancelling');
    const { code, out } = await cli.ended();
    expect(out).toContain('cancelled after');
    expect(code).toBe(5);
  });

  it('leaves toolyard call at the second Ctrl-C, in any state of the call', async () => {
    const stubborn = 'trap "" TERM INT; echo up; for i in $(seq 300); do sleep 0.1; done';
    const cli = start(['call', 'shell', `command=${stubborn}`], { terminal: true });
    await cli.says('up');
    cli.child.stdin?.write('\u0003');
    await cli.says('Cancelling');
    cli.child.stdin?.write('\u0003');
    const { code, out } = await cli.ended();
    expect(code).toBe(130);
    expect(out).toContain('toolyard show ');
  });
});

describe('toolyard watch', () => {
  it('shows filtered events in toolyard watch, and continues after a cursor', async () => {
    const cli = start(['watch', '--session', 'cli-watch', '--type', 'end', '--json']);
    await cli.says('waiting for the next event of session cli-watch; press Ctrl-C to end');
    await client.calls.run({ tool: 'echo', arguments: {}, sessionId: 'another-session' });
    const calls = await Promise.all([1, 2].map((n) => client.calls.run({ tool: 'echo', arguments: { n }, sessionId: 'cli-watch' })));
    await eventually(() => cli.out().split('\n').length > 2, 'two events');
    cli.child.kill('SIGINT');
    expect((await cli.ended()).code).toBe(130);
    const lines = cli
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { subject: string; type: string; cursor: string });
    expect(lines.map(({ type }) => type)).toEqual(['call.end', 'call.end']);
    expect(lines.map(({ subject }) => subject).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());

    const rest = start(['watch', '--session', 'cli-watch', '--type', 'call.end', '--cursor', lines[0]!.cursor]);
    await rest.says(lines[1]!.subject);
    rest.child.kill('SIGINT');
    expect((await rest.ended()).out).not.toContain(lines[0]!.subject);
  });

  it('refuses an unknown type of event in toolyard watch, with the known ones', async () => {
    expect(await run(['watch', '--type', 'nonsense'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('submitted, approval_requested'),
    });
  });
});

describe('the other commands', () => {
  it('lists waiting calls by risk, highest first, on the command line, and refuses an unknown order', async () => {
    const sessionId = 'cli-by-risk';
    await client.sessions.put(sessionId, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const ids: string[] = [];
    for (const command of ['ls; rm -rf build', 'git push', 'ls; rm -rf dist'])
      ids.push((await client.calls.submit({ tool: 'shell', arguments: { command }, sessionId })).id);
    const listed = async (...flags: string[]) =>
      (await run(['approvals', '--list', '--json', '--session', sessionId, ...flags])).out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
    const [first, medium, second] = ids;
    expect(await listed()).toEqual([second, medium, first]);
    expect(await listed('--sort', 'risk')).toEqual([first, second, medium]);
    expect((await client.approvals.list({ sort: 'risk', risk: 'high', limit: 200 })).calls.map(({ id }) => id)).toEqual(
      expect.arrayContaining([first, second]),
    );
    const questions = (await run(['approvals', '--list', '--session', sessionId])).out;
    expect(questions.match(/^shell · \w+ risk/gm)).toEqual(['shell · high risk', 'shell · medium risk', 'shell · high risk']);
    expect(await run(['approvals', '--sort', 'loudest'])).toMatchObject({ code: 2, err: expect.stringContaining('newest, risk') });
    for (const id of ids) await client.calls.decide(id, { decision: 'deny' });
    const found = await run(['calls', '--json', '--session', sessionId, '--sort', 'risk']);
    for (const [command, risk] of [
      ['git push', 'medium'],
      ['ls; rm -rf build', 'high'],
    ] as const)
      expect((await run(['quote', 'shell', `command=${command}`, '--session', sessionId])).out).toMatch(
        new RegExp(`^  risk  ${risk}$`, 'm'),
      );
    const risks = found.out.split('\n').filter(Boolean);
    expect(risks.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([second, first, medium]);
  });

  it('decides a waiting call on the command line', async () => {
    const session = 'cli-supervised';
    await client.sessions.put(session, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const cli = start(['call', 'shell', 'command=curl example.com; echo done', '--session', session]);
    await cli.says('toolyard approve ');
    const [, id = ''] = /toolyard approve (\S+)/.exec(cli.err()) ?? [];
    expect((await run(['approvals'])).out).toContain(id);
    expect((await run(['deny', id, '--reason', 'not today'])).code).toBe(0);
    expect(await cli.ended()).toMatchObject({ code: 3, err: expect.stringContaining('not today') });
    expect((await run(['approve', id])).code).toBe(8);

    const other = start(['call', 'shell', 'command=curl --version >/dev/null; echo done', '--session', session]);
    await other.says('toolyard approve ');
    const [, second = ''] = /toolyard approve (\S+)/.exec(other.err()) ?? [];
    await run(['approve', second]);
    expect((await other.ended()).out).toContain('done');

    const third = start(['call', 'shell', 'command=curl example.com', '--session', session]);
    await third.says('toolyard approve ');
    const [, edited = ''] = /toolyard approve (\S+)/.exec(third.err()) ?? [];
    expect((await run(['approve', edited, '--arguments', '{"command": 1}'])).err).toContain('/command: expected string');
    await run(['approve', edited, '--arguments', '{"command": "echo instead"}']);
    expect((await third.ended()).out).toContain('instead');
    expect((await run(['show', edited])).out).toContain('/command "curl example.com" → "echo instead"');
  });

  it('lists, shows, quotes, cancels, replays and steers calls on the command line', async () => {
    const { out } = await run(['call', 'sleep', 'duration_ms=600000', '--session', 'cli-others', '--no-wait', '--label', 'who=me']);
    const id = out.trim();
    await eventually(async () => (await run(['calls', '--session', 'cli-others'])).out.includes(id), 'the call to be listed');
    await eventually(() => suspendedIn('cli-others'), 'the call to start');
    expect(await run(['cancel', id])).toMatchObject({ code: 0, err: expect.stringContaining('cancelled') });
    expect((await run(['show', id])).out).toMatch(/who=me/);
    expect((await run(['show', id, '--debug'])).out).toMatch(
      /\+0 ms +stage [^]*evaluate: sleep[^]*dispatch[^]*attempt 1[^]*retry 1[^]*end 1/,
    );
    expect(await run(['replay', id, 'duration_ms=1'])).toMatchObject({ code: 0, out: 'Slept for 1ms\n' });
    expect(await run(['quote', 'shell', 'command=ls', '--session', 'cli-locked'])).toMatchObject({ code: 3 });
    expect((await run(['quote', 'echo'])).out).toContain('runs');
    expect((await run(['steer', 'cli-others', 'mind', 'the', 'gap', '--json'])).out).toContain('mind the gap');
    expect((await run(['tools', 'bash'])).out).toContain('Runs a command with bash');
    expect(JSON.parse((await run(['tools', 'shell', '--format', 'openai'])).out)).toMatchObject({ type: 'function' });
  });

  it('cancels a batch and prints how each call ended', async () => {
    const batch = await client.batches.submit({ calls: [{ tool: 'sleep', arguments: { duration_ms: 600_000 } }] });
    await eventually(async () => (await client.batches.get(batch.id)).results[0]?.callId, 'its call to be submitted');
    const { code, err } = await run(['batch', 'cancel', batch.id, '--reason', 'not needed']);
    expect([code, err]).toEqual([0, expect.stringMatching(/^\S+: cancelled\n$/m)]);
    expect(await client.batches.get(batch.id)).toMatchObject({ status: 'ended', results: [{ outcome: 'cancelled' }] });
  });

  it('cancels and replays all matching calls on the command line after showing their number and a confirmation', async () => {
    const of = ['--session', 'cli-bulk'];
    for (let n = 0; n < 3; n += 1) await run(['call', 'sleep', 'duration_ms=600000', ...of, '--no-wait']);
    await eventually(async () => (await client.calls.count({ sessionId: 'cli-bulk' })).count === 3, 'all to be counted');
    expect((await run(['cancel-all', ...of, '--dry-run'])).err).toContain('3 calls would be asked to stop');
    expect(await run(['cancel-all', ...of])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(await run(['cancel-all'])).toMatchObject({ code: 2, err: expect.stringContaining('at least one filter') });
    for (const [answer, said] of [
      ['n\n', 'Nothing was changed'],
      ['y\n', '3 of 3 calls were asked to stop'],
    ] as const) {
      const cli = start(['cancel-all', ...of], { terminal: true });
      await cli.says('Continue? [y/N]');
      cli.child.stdin?.write(answer);
      await cli.says(said);
    }
    const ended = async () => (await client.calls.count({ sessionId: 'cli-bulk', outcome: 'cancelled' })).count === 3;
    await eventually(ended, 'all to be cancelled');
    expect(JSON.parse((await run(['replay-all', ...of, '--yes', '--json'])).out)).toMatchObject({ matched: 3, done: 3, failed: [] });
    await run(['cancel-all', ...of, '--yes']);
  });

  it('prints completion scripts for the shells, and offers the names of tools', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect((await run(['complete', shell])).out).toContain('toolyard');
    // Names that do not come within 0.7 s are not offered.
    await eventually(async () => (await run(['complete', '--', 'call', 'she'])).out.includes('shell'), 'the names of tools to be offered');
    expect((await run(['complete', '--', 'wa'])).out).toContain('watch');
  });

  it('finds the key that npm start left in this folder, and lists the places searched', async () => {
    const folder = freshDirectory();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'key'), `${tenant.keyOf('main')}\n`);
    const env = { TOOLYARD_API_KEY: '', TOOLYARD_DATA: join(folder, 'data') };
    expect(await run(['tools'], { env })).toMatchObject({ code: 0 });
    expect(await run(['tools'], { env: { TOOLYARD_API_KEY: '' } })).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no .toolyard/key here'),
    });
  });
});
