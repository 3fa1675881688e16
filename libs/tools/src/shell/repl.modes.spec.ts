import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { BubblewrapSandbox, DEFAULT_LIMITS, NoSandbox, runProcess, type Sandbox } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { failureOf, newMarker, processesWith, textOf } from '../testing/shell-runs.js';
import { type TestWorkspace, testWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { LocalInterpreters } from './repl/local-interpreters.js';
import { ReplTool } from './repl.tool.js';

const limits = { ...DEFAULT_LIMITS, memoryBytes: 536_870_912 };
const bubblewrap = new BubblewrapSandbox({ limits });
const works = (await bubblewrap.probe()).ok;
const sandboxes: [string, Sandbox][] = [
  ['on the host', new NoSandbox(limits)],
  ...(works ? [['in bubblewrap', bubblewrap] as [string, Sandbox]] : []),
];

describe.each(sandboxes)('code %s', (_name, sandbox) => {
  let workspace: TestWorkspace;
  let interpreters: LocalInterpreters;
  let tool: ReplTool;
  beforeAll(async () => {
    workspace = await testWorkspace();
    interpreters = new LocalInterpreters({ most: 3, mostOfTenant: 2, idleMs: 60_000 });
    tool = new ReplTool(sandbox, interpreters);
  });
  afterEach(() => interpreters.close());
  afterAll(() => workspace.remove());

  const context = (more: Partial<ToolContext> = {}) => fakeToolContext({ workspace: { root: workspace.root }, sessionId: 'one', ...more });
  const run = (language: 'python' | 'node' | 'py' | 'bash', code: string, ctx = context(), timeout_ms?: number) =>
    tool.run({ language, code, ...(timeout_ms === undefined ? {} : { timeout_ms }) }, ctx);
  const text = async (...args: Parameters<typeof run>) => textOf(await run(...args));
  /** Error of code that times out once it has written output: by a clock, a slow machine may not have begun. */
  const failureOverTime = async (language: 'python' | 'node', code: string, limitMs: number) => {
    const over = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    try {
      const failure = await failureOf(run(language, code, context({ onUpdate: () => over.abort() }), limitMs));
      expect(timeout).toHaveBeenCalledWith(limitMs);
      return failure;
    } finally {
      timeout.mockRestore();
    }
  };

  it('keeps variables, functions and imports of Python, and shows output, value and error', async () => {
    expect(await text('python', 'import math\nn = 41\ndef up(x): return x + 1')).toBe('The code has run, without output or value.');
    expect(await text('py', 'print("hé\\0llo"); up(n)')).toBe('héllo\n=> 42');
    expect(await text('python', 'math.floor(_ / 10)')).toBe('=> 4');
    const failed = await run('python', 'import sys\nprint("out"); print("err", file=sys.stderr); n / 0');
    expect(failed).toMatchObject({ isError: true, details: { language: 'python', exitCode: 1, stateLost: false } });
    expect(textOf(failed)).toMatch(
      /^stdout:\nout\n\n\nstderr:\nerr\n?\nTraceback[^]*"<repl>", line 2[^]*ZeroDivisionError: division by zero$/,
    );
    expect(textOf(failed)).not.toContain('evaluate');
    expect(await text('python', 'input()')).toContain('EOFError');
    expect(await text('python', 'this is no python')).toContain('SyntaxError');
    expect(await text('python', 'exit(3)')).toContain('SystemExit: 3');
    expect(await text('python', 'n')).toBe('=> 41');
  });

  it('reports the CPU time of code, or that it is unknown', async () => {
    const times: unknown[] = [];
    await run('python', 'sum(range(10**6))', context({ onCpuTime: (ms) => void times.push(ms) }));
    const bare = { file: '/bin/true', args: [], cwd: '/', env: {}, limits };
    const { cpuMs } = await runProcess(bare, { signal: AbortSignal.timeout(20_000), graceMs: 0 });
    expect(times).toEqual([cpuMs === undefined ? undefined : expect.any(Number)]);
  });

  it('keeps variables and functions of Node.js, awaits, and shows output, value and error', async () => {
    expect(await text('node', 'const n = 41; function up(x) { return x + 1 }')).toBe('The code has run, without output or value.');
    expect(await text('node', 'console.log("out"); up(n)')).toBe('out\n=> 42');
    expect(await text('node', 'await Promise.resolve({ n })')).toBe('=> { n: 41 }');
    expect(await text('node', 'require("node:path").basename(process.cwd())')).toBe("=> 'one'");
    const failed = await run('node', 'console.error("err"); null.x');
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toMatch(/^err\nTypeError: Cannot read properties of null/);
    expect(await text('node', 'this is no javascript')).toContain('SyntaxError');
    expect(
      await text('node', 'setTimeout(() => { throw new Error("late") }, 1); await new Promise((r) => setTimeout(r, 50)); n'),
    ).toContain('late');
    expect(await text('node', 'n')).toBe('=> 41');
  });

  it('runs code in bash in the persistent shell of the session', async () => {
    await run('bash', 'mkdir -p deep && cd deep && x=41');
    expect(await text('bash', 'echo $x; basename "$PWD"')).toBe('41\ndeep\n');
  });

  it('interrupts code after its time, and reports the preserved state', async () => {
    await run('python', 'n = 1');
    await run('node', 'var n = 1');
    for (const [language, code] of [
      ['python', 'print("begun", flush=True)\nwhile True: pass'],
      ['python', 'import time; print("begun", flush=True); time.sleep(60)'],
      ['node', 'console.log("begun"); for (;;);'],
      ['node', 'await new Promise(() => setTimeout(() => console.log("begun"), 1))'],
    ] as const) {
      const failure = await failureOverTime(language, code, 300);
      expect(failure).toMatchObject({ code: 'run_timeout', options: { killed: false } });
      expect(failure.message).toBe(
        'The code ran longer than its 300 ms: it was interrupted, and the state was kept.\n\nLast output:\nbegun',
      );
      expect(await text(language, 'n')).toBe('=> 1');
    }
  });

  it('interrupts code in the middle of its output in Node.js, and prints again afterwards', async () => {
    await run('node', 'var n = 1');
    for (const stream of ['log', 'error', 'log', 'error']) {
      const failure = await failureOverTime('node', `for (;;) console.${stream}("begun")`, 300);
      expect(failure).toMatchObject({ code: 'run_timeout', options: { killed: false } });
      expect(await text('node', 'console.log("out"); console.error("err"); n')).toBe('stdout:\nout\n\n\nstderr:\nerr\n=> 1');
    }
  });

  it('interrupts code whose time is over before it begins', async () => {
    for (const language of ['python', 'node'] as const)
      for (const limitMs of [1, 10, 20, 30, 50, 70]) {
        const ctx = context({ sessionId: `early ${limitMs}` });
        const forever = { python: 'while True: pass', node: 'for (;;);' }[language];
        expect(await failureOf(run(language, forever, ctx, limitMs))).toMatchObject({ code: 'run_timeout', options: { killed: false } });
        expect(await text(language, '1 + 1', ctx)).toBe('=> 2');
      }
  });

  it('interrupts code also when its interpreter is still busy with earlier code', async () => {
    // Output after the response is shown with the next code, which is already sent, and waits.
    await run('node', `var fs = require('node:fs'); setImmediate(() => { fs.writeSync(1, 'busy'); while (!fs.existsSync('go')); }); 0`);
    const cancel = new AbortController();
    const onUpdate = () =>
      void setImmediate(() => {
        cancel.abort(new ToolError('cancelled', 'Cancelled'));
        writeFileSync(join(workspace.root, 'go'), '');
      });
    const failure = await failureOf(run('node', 'for (;;);', context({ signal: cancel.signal, onUpdate })));
    expect(failure).toMatchObject({ code: 'cancelled', options: { killed: false } });
    expect(await text('node', '1 + 1')).toBe('=> 2');
    rmSync(join(workspace.root, 'go'));
  });

  it('kills code that does not react to the interrupt with all it started, and the state is lost', async () => {
    const marker = newMarker();
    const code = `import os, signal, subprocess, time\nsubprocess.Popen(['bash', '-c', 'trap "" INT; exec -a ${marker} sleep 600'], start_new_session=True)\nwhile True:\n  try:\n    print('begun', flush=True)\n    time.sleep(60)\n  except KeyboardInterrupt: pass`;
    const failure = await failureOverTime('python', code, 1_000);
    expect(failure).toMatchObject({ code: 'run_timeout', options: { killed: true } });
    expect(failure.message).toContain('its interpreter was killed, and the state is lost');
    expect(processesWith(marker)).toEqual([]);
    expect(await text('python', '1 + 1')).toBe('=> 2');
  });

  it('interrupts code by the cancel of its call', async () => {
    const cancel = new AbortController();
    const ctx = context({ signal: cancel.signal, onUpdate: () => cancel.abort(new ToolError('cancelled', 'Cancelled by Ann')) });
    const failure = await failureOf(run('python', 'n = 7\nprint("begun", flush=True)\nwhile True: pass', ctx));
    expect(failure).toMatchObject({
      code: 'cancelled',
      message: expect.stringMatching(/^Cancelled by Ann\. About the code: it was interrupted/),
    });
    expect(await text('python', 'n')).toBe('=> 7');
  });

  it('loses the state with code that ends its interpreter or takes too much memory, and reports it', async () => {
    await run('python', 'n = 1');
    expect((await failureOf(run('python', 'import os; os._exit(5)'))).message).toMatch(
      /^The interpreter is gone, and the state is lost: it ended with exit code 5/,
    );
    expect((await failureOf(run('python', 'x = b"x" * 2_000_000_000\nimport time; time.sleep(60)'))).message).toContain(
      'more than its limits allow',
    );
    expect(await text('python', 'n')).toContain("NameError: name 'n' is not defined");
  });

  it('pauses code between calls with everything it started, and resumes it with the next call', async () => {
    const marker = newMarker();
    await run('python', STARTS_PROCESSES(marker));
    const found = processesWith(marker);
    expect(found).toHaveLength(3);
    const [starter = ''] = found.map(parentOf).filter((pid) => stateOf(pid).command.startsWith('python'));
    expect([...found, starter].map((pid) => stateOf(pid).state)).toEqual(['T', 'T', 'T', 'T']);
    const ticks = 'from os.path import getsize\nbefore = getsize("ticks")\nwhile getsize("ticks") < before + 10: pass\n"ticks"';
    expect(await text('python', ticks)).toBe("=> 'ticks'");
    expect(await text('python', 'threaded')).toMatch(/^=> [1-9]/);
    expect(processesWith(marker).map((pid) => stateOf(pid).state)).toEqual(['T', 'T', 'T']);
    await interpreters.endOf({ tenantId: context().tenantId, sessionId: 'one' });
    expect([...processesWith(marker), ...processesWith(workspace.root)]).toEqual([]);
  });

  it('pauses code between calls in Node.js, and resumes its timers with the next call', async () => {
    await run('node', 'var n = 0; setInterval(() => n++, 1)');
    expect(await text('node', 'await new Promise((r) => setInterval(() => n > 9 && r(), 1)); n > 9')).toBe('=> true');
  });

  it('ends code with its session in the middle of a call, with all it started', async () => {
    const marker = newMarker();
    const session = { tenantId: context().tenantId, sessionId: 'one' };
    const ctx = context({ onUpdate: () => void interpreters.endOf(session) });
    const code = `${STARTS_PROCESSES(marker)}\nprint('begun', flush=True)\nwhile True: pass`;
    expect((await failureOf(run('python', code, ctx))).message).toContain('The interpreter is gone, and the state is lost');
    expect(processesWith(marker)).toEqual([]);
  });

  it('runs code in a new interpreter while an earlier one ends, and ends it with the session, too', async () => {
    const marker = newMarker();
    const session = { tenantId: context().tenantId, sessionId: 'one' };
    let next: Promise<unknown> | undefined;
    const onUpdate = () => {
      if (next !== undefined) return; // The line may come in two parts.
      void interpreters.endOf(session);
      next = run('python', STARTS_PROCESSES(marker));
    };
    const stubborn = 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("begun", flush=True)\nwhile True: pass';
    await failureOf(run('python', stubborn, context({ onUpdate })));
    await next;
    expect(processesWith(marker)).toHaveLength(3);
    await interpreters.endOf(session);
    expect(processesWith(marker)).toEqual([]);
  });

  it('separates code by session, tenant, user and language, also after a deleted session of the same name', async () => {
    await run('python', 'secret = 1');
    for (const other of [{ sessionId: 'two' }, { tenantId: 'rival' }, { sessionEpoch: 1 }, { userId: 'eve' }]) {
      expect(await text('python', 'secret', context(other))).toContain('NameError');
      await interpreters.close();
      await run('python', 'secret = 1');
    }
    const once: Partial<ToolContext> = {};
    const { sessionId: _, ...without } = context(once);
    expect(await text('python', '"secret" in globals()', without as ReturnType<typeof context>)).toBe('=> False');
  });

  it('reports a lost state when another session of the tenant took the room, with the reason', async () => {
    for (const sessionId of ['a', 'b', 'c']) await run('python', 'n = 1', context({ sessionId }));
    expect(await text('python', 'n', context({ sessionId: 'c' }))).toBe('=> 1');
    const lost = await text('python', '1', context({ sessionId: 'a' }));
    expect(lost).toBe(
      '[The state of earlier python code is lost: its room was needed for another session. This code ran in a new interpreter.]\n=> 1',
    );
  });

  it('imports the modules of the runner from Python itself, and those of code also from the workspace', async () => {
    for (const name of ['ast', 'json', 'os', 'traceback', 'linecache', 'sitecustomize', 'usercustomize', 'own'])
      await workspace.put(`${name}.py`, 'print("planted")');
    const ctx = context({ sessionId: 'planted' });
    expect(await text('python', '2 + 2', ctx)).toBe('=> 4');
    expect(await text('python', 'import own', ctx)).toBe('planted');
  });

  it('continues no code in an interpreter that may see other files', async () => {
    await run('python', 'n = 1');
    const denied = { denialReason: (path: string) => (path.endsWith('secret.txt') ? 'denied' : undefined), mayDenyBelow: () => true };
    await workspace.put('secret.txt', 'x');
    const answer = await text('python', '2', context({ workspace: { root: workspace.root, denied } }));
    expect(answer).toContain('what the session may see of the files has changed');
  });
});

/** Python that starts three processes that run on, each detached in another way, and a thread. */
const STARTS_PROCESSES = (marker: string) => `
import subprocess, threading
threaded = 0
def count():
    global threaded
    while True: threaded += 1
threading.Thread(target=count, daemon=True).start()
loop = 'exec -a ${marker} bash -c "while :; do echo >> ticks; done"'
subprocess.Popen(['bash', '-c', loop])
subprocess.run(['setsid', '--fork', 'bash', '-c', loop])
subprocess.run(['bash', '-c', f'nohup bash -c {chr(39)}{loop}{chr(39)} > /dev/null 2>&1 & disown'])`;

function stateOf(pid: string) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [, command = '', state = '', parent = ''] = /^\d+ \((.*)\) (\w) (\d+)/s.exec(text) ?? [];
  return { command, state, parent };
}

const parentOf = (pid: string) => stateOf(pid).parent;
