import { readdirSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, WorkerStatus } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { textOf } from '../support/policy-case.js';

/** Small limits, so that a runaway meets them before the machine notices. */
const LIMITS = {
  SANDBOX_PROCESSES: '48',
  SANDBOX_MEMORY_BYTES: '134217728',
  SANDBOX_FILE_BYTES: '1048576',
  SANDBOX_OPEN_FILES: '64',
};
/** A bomb in a test doubles only so often (511 processes), so that a limit that fails costs a red test and not the machine. */
const DOUBLINGS = 8;

interface Runaway {
  readonly name: string;
  /** Command whose processes have the marker in their command line. */
  readonly command: (marker: string) => string;
  /** Content of the file `script` beside it. */
  readonly script?: string;
  readonly timeoutMs?: number;
  readonly ends: { readonly outcome: Call['outcome']; readonly code?: string; readonly text: RegExp };
}

const killed = (text: RegExp): Runaway['ends'] => ({ outcome: 'failed', code: 'tool_failed', text });
const timedOut: Runaway['ends'] = { outcome: 'timed_out', code: 'run_timeout', text: /^Command timed out after [\d.]+s and was killed/ };
const daemon = (marker: string) =>
  `setsid env -i /bin/bash -c 'trap "" TERM HUP; while :; do /bin/sleep 0.1; done' ${marker} & sleep 0.2; echo started`;

const RUNAWAYS: Runaway[] = [
  { name: 'never stops writing', command: (marker) => `yes ${marker}`, timeoutMs: 1_500, ends: timedOut },
  {
    name: 'takes 8 GB',
    command: (marker) => `: ${marker}; head -c 8G /dev/zero | tail -c 8G > /dev/null`,
    ends: killed(/^Command used [\d,]+ MiB of memory, more than the 128 MiB it may, and was killed/),
  },
  {
    name: 'ignores SIGTERM',
    command: (marker) => `: ${marker}; trap '' TERM; while :; do sleep 0.05; done`,
    timeoutMs: 1_000,
    ends: timedOut,
  },
  { name: 'leaves a grandchild with a session of its own', command: daemon, ends: { outcome: 'completed', text: /^started/ } },
  {
    name: 'waits with a grandchild that has a session of its own',
    command: (marker) => `${daemon(marker)}; sleep 300`,
    timeoutMs: 1_500,
    ends: timedOut,
  },
  {
    name: 'is a fork bomb',
    // Script in a file, since a command that is plainly a fork bomb is denied before it runs.
    script: `bomb() { [ $2 -eq 0 ] || { bomb $1 $(($2 - 1)) | bomb $1 $(($2 - 1)) & }; sleep 300; }; bomb $1 $2`,
    command: (marker) => `bash script ${marker} ${DOUBLINGS}`,
    ends: killed(/^Command had \d+ processes at once, more than the 48 it may, and was killed/),
  },
  {
    name: 'is a fork bomb in sessions of its own that ignores SIGTERM',
    command: (marker) =>
      `export marker=${marker}; bomb() { trap '' TERM; [ $1 -eq 0 ] || { setsid bash -c 'bomb $1' ${marker} $(($1 - 1)) & setsid bash -c 'bomb $1' ${marker} $(($1 - 1)) & }; sleep 300; }; export -f bomb; bomb ${DOUBLINGS}`,
    ends: killed(/^Command had \d+ processes at once/),
  },
  {
    name: 'opens files without end',
    command: (marker) => `: ${marker}; touch f; for i in $(seq 100); do exec {fd}<f || exit 3; done`,
    ends: { outcome: 'completed', text: /Too many open files/ },
  },
  {
    name: 'fills the disk',
    command: (marker) => `: ${marker}; head -c 3000000 /dev/zero > large; exit $?`,
    ends: { outcome: 'completed', text: /larger than the 1 MiB/ },
  },
];

describe.each(['host', 'bubblewrap'])('with the sandbox %s, a command that', (sandbox) => {
  let toolyard: TestCluster;
  let agent: Agent;
  /** False where a machine forbids user namespaces: there nothing may run unisolated instead. */
  let works = true;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { SANDBOX: sandbox, ...LIMITS } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const { body } = await agent.get<{ workers: WorkerStatus[] }>('/v1/workers');
    works = body.workers[0]?.sandbox?.shell?.ok === true;
  });
  afterAll(() => toolyard.close());

  it.each(RUNAWAYS)(
    'ends a command that $name typed and whole, and its neighbours run on [EX-25, EX-31]',
    async ({ command, script, timeoutMs, ends }) => {
      const marker = `runaway-${randomUUID()}`;
      const more = timeoutMs === undefined ? {} : { timeout_ms: timeoutMs };
      if (!works) {
        expect((await agent.run('shell', { command: command(marker), ...more })).error?.code).toBe('unavailable');
        return;
      }
      const neighbour = await agent.submit('shell', { command: `echo up; until [ -e ${marker} ]; do sleep 0.05; done; echo survived` });
      await eventually(
        async () => (await agent.events(neighbour.body.id)).some(({ type }) => type === 'call.update'),
        'the neighbour to run',
      );

      if (script !== undefined) await agent.run('file_write', { path: 'script', content: script }, { sessionId: 'runaway' });
      const call = await agent.run('shell', { command: command(marker), ...more }, { sessionId: 'runaway' });
      expect({ outcome: call.outcome, code: call.error?.code, text: textOf(call).slice(0, 500) }).toEqual({
        outcome: ends.outcome,
        code: ends.code,
        text: expect.stringMatching(ends.text),
      });
      expect((await agent.events(call.id)).filter(({ type }) => type === 'call.end')).toHaveLength(1);
      await eventually(() => processesWith(marker).length === 0, `no process of ${marker} to be left`);

      await agent.run('file_write', { path: marker, content: '' });
      expect(textOf(await agent.ended(neighbour.body.id))).toBe('up\nsurvived\n');
      expect(toolyard.workers.map(({ child }) => child.exitCode)).toEqual([null]);
    },
  );
});

/** But the neighbour, which waits for a file of that name. */
function processesWith(marker: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLine(name).replaceAll(`-e ${marker}`, '').includes(marker));
}

/** Empty for a process that ended meanwhile. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
