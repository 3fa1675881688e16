import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCli } from '../support/cli.js';

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly scenarios: readonly { readonly scenario: string; readonly passed: boolean; readonly reason?: string }[];
}

const TYPESCRIPT = [process.execPath, 'dist/apps/examples/src/typescript-worker.js'];

const WORKERS: Record<string, { command: readonly string[]; env?: Record<string, string> }> = {
  'in TypeScript over a WebSocket': { command: TYPESCRIPT },
  'in TypeScript over long polls': { command: TYPESCRIPT, env: { TOOLYARD_TRANSPORT: 'poll' } },
  'in Python': { command: ['python3', 'apps/examples/src/check_tools.py'] },
};

async function check(command: readonly string[], env: Record<string, string> = {}, ...flags: string[]) {
  const absolute = command.map((word) => (word.includes('/src/') ? join(process.cwd(), word) : word));
  const { code, out, err } = await startCli(['--json', 'worker-check', ...flags, '--', ...absolute], {
    url: 'http://127.0.0.1:1',
    env,
  }).ended();
  return { code, report: JSON.parse(out || `{"err":${JSON.stringify(err)}}`) as Report };
}

describe('toolyard worker-check', () => {
  let folder = '';
  const checks = new Map<string, ReturnType<typeof check>>();
  let faulty: ReturnType<typeof checkFaulty> | undefined;
  beforeAll(() => {
    const { error } = spawnSync('python3', ['--version']);
    if (error) throw new Error('This test runs a worker in Python: install Python 3.9 or newer as python3 (Debian: apt install python3).');
    // All at the same time: most of it is waiting.
    for (const [which, { command, env }] of Object.entries(WORKERS)) checks.set(which, check(command, env, '--timeout', '60'));
    folder = mkdtempSync(join(tmpdir(), 'worker-check-'));
    faulty = checkFaulty();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.keys(WORKERS))('passes the example worker %s in every scenario', async (which) => {
    const { code, report } = (await checks.get(which)) ?? { code: undefined, report: { passed: 0, failed: 0, scenarios: [] } };
    expect(report.scenarios.filter(({ passed }) => !passed)).toEqual([]);
    expect(report.scenarios.length).toBeGreaterThanOrEqual(25);
    expect(code).toBe(0);
  });

  const checkFaulty = () => {
    const path = join(folder, 'faulty.py');
    const fault = `import sys
sys.path.insert(0, ${JSON.stringify(join(process.cwd(), 'apps/examples/src'))})
import toolyard_worker, check_tools
take = toolyard_worker.Worker.take
def twice(self, frame):
    if frame["op"] == "call":
        self.calls.pop((frame["callId"], frame["fence"]), None)
    take(self, {**frame, "fence": 1} if frame["op"] == "call" else frame)
toolyard_worker.Worker.take = twice
toolyard_worker.main()
`;
    writeFileSync(path, fault);
    return Promise.all([
      // Waits for a frame until the time is over, which has to be enough for a slow start.
      check(['python3', path], {}, '--timeout', '20', '--only', 'with the same callId and fence'),
      check(['python3', path], {}, '--timeout', '60', '--only', 'runs a call once'),
      check([process.execPath, '-e', 'process.exit(3)'], {}, '--timeout', '60', '--only', 'says hello'),
    ]);
  };

  it('names the scenario that a faulty worker fails, and why', async () => {
    const [fence, once, silent] = (await faulty) ?? [];
    expect(fence).toMatchObject({
      code: 1,
      report: { failed: 1, scenarios: [{ passed: false, reason: expect.stringContaining('finish') }] },
    });
    expect(once?.report.scenarios).toMatchObject([{ passed: false, reason: expect.stringContaining('it ran') }]);
    expect(silent?.report.scenarios).toMatchObject([{ passed: false, reason: expect.stringContaining('The program ended with 3') }]);
  });
});
