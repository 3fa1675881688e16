import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Agent } from '../support/agent.js';
import { textOf } from '../support/policy-case.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const FAILED = 'FAILED tests/test_x.py::test_y - 1 failed, 99 passed';

let tenant: Tenant;
let agent: Agent;
beforeAll(async () => {
  const agents = {
    tails: { policy: { execution: { resultBytes: 1_000, resultTailBytes: 100 } } },
    heads: { policy: { execution: { resultBytes: 1_000, resultTailBytes: 0 } } },
  };
  tenant = await useTenant('long-output', { settings: { agents } });
  ({ agent } = tenant);
});
afterAll(() => tenant?.close());

const NOTICE = /\n\[output truncated — original size: ([\d,]+) bytes; ([\d,]+) left out here; ([^\]]*)\]\n/;
/** Beginning and end of what a model gets, and what stands between. */
function partsOf(text: string) {
  const [notice = '', size = '', missing = '', how = ''] = NOTICE.exec(text) ?? [];
  const [head = '', tail = ''] = notice === '' ? [text] : text.split(notice);
  const number = (digits: string) => Number(digits.replaceAll(',', ''));
  return { head: `${head}\n`, tail, size: number(size), missing: number(missing), how };
}
const run = async (command: string, more: object = {}) =>
  partsOf(textOf(await agent.run('shell', { command }, { sessionId: 's', ...more })));

describe('the text that a model gets of a long command', () => {
  it.each([
    ['fits into what is kept', 20_000],
    ['is longer than what is kept', 400_000],
  ])('gives a model beginning, end and exit code of a long command whose output %s', async (_, lines) => {
    const { head, tail, size, missing, how } = await run(`seq 1 ${lines}; echo '${FAILED}'; exit 1`);
    expect(head).toMatch(/^1\n2\n3\n[\d\n]+\n$/);
    expect(tail).toMatch(new RegExp(`^[\\d\\n]+\\n${lines}\\n${FAILED.replaceAll('.', '\\.')}\\nExit code: 1$`));
    expect(tail.length).toBeGreaterThan(2 * head.length);
    expect([head.length + tail.length > 15_000, head.length + tail.length <= 16_384 + 1]).toEqual([true, true]);
    expect(Math.abs(size - missing - head.length - tail.length)).toBeLessThan(100);
    expect(how).toMatch(/^exit code 1; shell_output \{"task_id":"[^"]+","from_byte":\d+\} reads on from here$/);
  });

  it('gives a model more of the beginning of a successful long command, and the exit code', async () => {
    const { head, tail, how } = await run('seq 1 20000');
    expect(head.length).toBeGreaterThan(2 * tail.length);
    expect(tail).toMatch(/^\d+\n[\d\n]*\n20000\n$/);
    expect(how).toContain('exit code 0; ');
  });

  it('gives a model beginning and end of both streams of a long command, and its exit code', async () => {
    const both = 'seq -f "out %.0f" 1 300000; echo out-end; seq -f "err %.0f" 1 300000 >&2; echo err-end >&2; exit 4';
    for (const command of [both, both.replaceAll('300000', '3000')]) {
      const call = await agent.run('shell', { command }, { sessionId: 'both' });
      const text = textOf(call);
      expect(text).toMatch(/^stdout:\nout 1\nout 2\n[^]*\nout-end\n\n\nstderr:\nerr 1\nerr 2\n[^]*\nerr-end\nExit code: 4$/);
      expect(text.match(new RegExp(NOTICE, 'g'))).toHaveLength(2);
      expect(Buffer.byteLength(text.replaceAll(new RegExp(NOTICE, 'g'), ''))).toBeLessThanOrEqual(16_384);
      const whole = Buffer.from((await agent.get<string>(`/v1/calls/${call.id}/output`)).body);
      for (const [, head = '', from] of text.matchAll(/\n(.*)\n\[output truncated[^\]]*"from_byte":(\d+)\}/g))
        expect(whole.subarray(0, Number(from)).toString().endsWith(`\n${head}\n`)).toBe(true);
    }
  });

  it('gives a model of oxydra beginning and end of both streams of a long command', async () => {
    const command = 'seq -f "out %.0f" 1 3000; echo out-end; seq -f "err %.0f" 1 3000 >&2; echo err-end >&2; exit 4';
    const read = textOf(await agent.run('shell_exec', { command }, { sessionId: 'oxydra', dialect: 'oxydra' }));
    expect(read).toMatch(/: stdout:\nout 1\n[^]*\nout-end\n\n\nstderr:\nerr 1\n[^]*\nerr-end\n$/);
    expect(read.match(/\[output truncated/g)).toHaveLength(2);
  });

  it.each([
    ['claude-code', 'bash', { returnCodeInterpretation: 'exit_code:4' }],
    ['kiro', 'shell', { exit_status: '4' }],
  ])(
    'gives a model of %s JSON with beginning and end of both streams of a long command, and its exit code',
    async (dialect, tool, code) => {
      const command = `seq -f 'out "%.0f"' 1 3000; echo out-end; seq -f "err %.0f" 1 3000 >&2; echo err-end >&2; exit 4`;
      const text = textOf(await agent.run(tool, { command }, { sessionId: dialect, dialect, agentId: 'tails' }));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000 + 2 * 200);
      const read = JSON.parse(text) as Record<'stdout' | 'stderr', string>;
      expect(read).toMatchObject(code);
      expect(read.stdout).toMatch(/^out "1"\n[^]*\n\[output truncated[^\]]*\]\n[^]*\nout-end\n$/);
      expect(read.stderr).toMatch(/^err 1\n[^]*\n\[output truncated[^\]]*\]\n[^]*\nerr-end\n$/);
    },
  );

  it.each([
    [
      'a bar that redraws its line',
      String.raw`for n in $(seq 9999); do printf '\r\033[32m%s %%\033[0m' $n; done; echo; echo done`,
      '9999 %\ndone\n',
    ],
    ['bars that are drawn again from above', String.raw`printf 'a 0\nb 0\n\033[2A\033[Ka 9\n\033[Kb 9\n'`, 'a 9\nb 9\n'],
    ['titles, links and colours', String.raw`printf '\033]0;t\007\033]8;;http://x\033\\link\033]8;;\033\\ \033[1mx\033[m\n'`, 'link x\n'],
    ['backspaces and NUL bytes', String.raw`printf 'wait |\b/\b-\b\0done\n'`, 'wait done\n'],
    ['bytes that are no UTF-8, and halves of characters', String.raw`printf '\377a\303'; sleep 0.1; printf '\251\n'`, '\ufffdaé\n'],
    ['line ends of Windows', String.raw`printf 'one\r\ntwo\r\n'`, 'one\r\ntwo\r\n'],
  ])('gives a model the final terminal view of a command: %s', async (_, command, text) => {
    expect(textOf(await agent.run('shell', { command }, { sessionId: 's' }))).toBe(text);
  });

  it('streams each form of an overwritten line to watchers', async () => {
    const call = await agent.run('shell', { command: String.raw`printf '\033[31m1 %%\033[0m\r2 %%\n'` }, { sessionId: 's' });
    expect(textOf(call)).toBe('2 %\n');
    const updates = (await agent.events(call.id)).flatMap(({ type, data }) => (type === 'call.update' ? [JSON.stringify(data)] : []));
    expect(updates.join('')).toContain(String.raw`\u001b[31m1 %\u001b[0m\n2 %\n`);
  });

  it('gives a model beginning and end of the output of code, its error, and the last form of a redrawn line', async () => {
    const code = `import sys
for n in range(9999): print(f"\\r{n} %", end="")
print()
for n in range(9999): print("out", n)
for n in range(9999): print("err", n, file=sys.stderr)
nothing`;
    const call = await agent.run('repl', { language: 'python', code }, { sessionId: 'code' });
    expect(textOf(call)).toMatch(
      /^stdout:\n9998 %\nout 0\n[^]*\nout 9998\n\n\nstderr:\nerr 0\n[^]*\nerr 9998\nTraceback [^]*NameError: name 'nothing' is not defined$/,
    );
    expect(textOf(call).match(new RegExp(NOTICE, 'g'))).toHaveLength(2);
  });

  it('cuts a long output without lines between characters [EX-47]', async () => {
    const { head, tail } = await run(`for n in $(seq 1 30000); do printf '😀'; done; exit 3`);
    expect(head).toMatch(/^😀+\n$/u);
    expect(tail).toMatch(/^😀+\nExit code: 3$/u);
  });

  it('names the way to the whole output without a session', async () => {
    const call = await agent.run('shell', { command: 'seq 1 20000' });
    expect(partsOf(textOf(call)).how).toBe(`exit code 0; GET /v1/calls/${call.id}/output has all of it`);
  });

  it.each([
    ['tails', 100],
    ['heads', 0],
  ])('gives a model as much of the end of a long output as the policy sets: %s', async (agentId, tailBytes) => {
    const call = await agent.run('shell', { command: 'seq 1 20000; exit 1' }, { agentId, sessionId: agentId });
    expect(call).toMatchObject({ outcome: 'completed', isError: true });
    const { head, tail } = partsOf(textOf(call));
    expect(head.length).toBeGreaterThan(980 - tailBytes);
    expect(head.length).toBeLessThanOrEqual(1_000 - tailBytes + 1);
    expect(tail === '').toBe(tailBytes === 0);
  });

  it('shows no half of a secret at a cut of the stream', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const halves = `printf 'key=%s%s\\n' ${secret.slice(0, 12)} ${secret.slice(12)}`;
    const { tail } = await run(`for n in $(seq 1 40000); do ${halves}; done; exit 1`);
    expect(tail).toMatch(/^(key=\[REDACTED\]\n)+Exit code: 1$/);
  });

  it('reads a long output further with shell_output, by bytes and in its own session only', async () => {
    const call = await agent.run('shell', { command: 'seq 1 20000; exit 1' }, { sessionId: 'reads' });
    const whole = (await agent.get<string>(`/v1/calls/${call.id}/output`)).body;
    const { from_byte } = JSON.parse(/\{[^}]*\}/.exec(partsOf(textOf(call)).how)?.[0] ?? '{}') as { from_byte: number };
    let read = whole.slice(0, from_byte);
    for (let from: unknown = from_byte; typeof from === 'number';) {
      const part = await agent.run('shell_output', { task_id: call.id, from_byte: from }, { sessionId: 'reads' });
      const [, text = '', more] =
        /^([^]*?)\n\[.*: bytes [\d,]+ to [\d,]+ of [\d,]+\](?:\n\[there is more: .*from_byte: (\d+)\])?$/.exec(textOf(part)) ?? [];
      read += text;
      from = more === undefined ? undefined : Number(more);
    }
    expect(read).toBe(whole);
    const refused = { outcome: 'failed', error: { code: 'tool_failed' } };
    const readIn = (sessionId: string) => agent.run('shell_output', { task_id: call.id, from_byte: 0 }, { sessionId });
    expect(await readIn('other')).toMatchObject(refused);
    expect(await readIn('reads')).toMatchObject({ outcome: 'completed' });
    expect((await agent.request('DELETE', '/v1/sessions/reads')).status).toBe(204);
    expect(await readIn('reads')).toMatchObject(refused);
  });
});
