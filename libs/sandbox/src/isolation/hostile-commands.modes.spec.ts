import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { KERNEL_WALK } from '../../../../test/support/kernel-walk.js';
import { runProcess } from '../process/run-process.js';
import { BubblewrapSandbox, type BubblewrapSettings } from './bubblewrap-sandbox.adapter.js';
import type { SandboxView } from './sandbox.port.js';
import { giveFolder } from './sandbox-user.js';
import { SANDBOX_ENV, sandboxConfig } from './sandbox.config.js';
import { SandboxRegistry } from './sandbox.registry.js';
import { REFUSED_SYSCALLS } from './seccomp/refused-syscalls.js';

const sandbox = new BubblewrapSandbox();
const { ok, weakness } = await sandbox.probe();

/** Makes the system calls with the given numbers, and prints the error of each. */
const CALL = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in sys.argv[1:]:
    ctypes.set_errno(0)
    print(libc.syscall(int(number), 0, 0, 0, 0, 0, 0), ctypes.get_errno())
`;

describe.each(ok ? [sandbox] : [])('a hostile command in bubblewrap', () => {
  let workspace: string;
  beforeAll(async () => void (workspace = await mkdtemp(join(tmpdir(), 'toolyard-hostile-'))));
  afterAll(() => rm(workspace, { recursive: true, force: true }));

  const run = async (words: readonly string[], settings?: BubblewrapSettings) => {
    const chosen = settings === undefined ? sandbox : new BubblewrapSandbox(settings);
    const [file = '', ...args] = words;
    const command = chosen.wrap({ file, args, cwd: workspace, env: { PATH: '/usr/bin:/bin' } }, workspace);
    const { stdout, stderr } = await runProcess(command, { signal: AbortSignal.timeout(50_000), graceMs: 0 });
    return { stdout: stdout.text, stderr: stderr.text };
  };
  const python = (program: string, args: readonly string[] = [], settings?: BubblewrapSettings) =>
    run(['/usr/bin/python3', '-c', program, ...args], settings);
  const shell = (script: string) => run(['/bin/sh', '-c', script]);

  it('denies writes below /proc and /sys outside of its own processes in bubblewrap', async () => {
    expect(await python(KERNEL_WALK)).toEqual({ stdout: 'walked\n', stderr: '' });
    expect((await shell('printf x > /proc/sys/kernel/core_pattern; cat /proc/sys/kernel/core_pattern')).stderr).toMatch(/Read-only|denied/);
  });

  it('reads no keys, addresses or messages of the kernel in bubblewrap', async () => {
    expect(await shell('cd /proc; cat keys kallsyms kmsg iomem timer_list 2>/dev/null | head -c 20')).toEqual({ stdout: '', stderr: '' });
  });

  it('makes no system call in bubblewrap that the filter refuses', async () => {
    expect(weakness).toBeUndefined();
    const always = REFUSED_SYSCALLS.flatMap(({ when, errno, ...numbers }) => {
      const number = numbers[process.arch === 'arm64' ? 'arm64' : 'x64'];
      return when.kind === 'always' && number !== undefined ? [{ number, errno }] : [];
    });
    const { stdout } = await python(
      CALL,
      always.map(({ number }) => String(number)),
    );
    expect(stdout.trim().split('\n')).toEqual(always.map(({ errno }) => `-1 ${errno}`));
  });

  it('opens no socket in bubblewrap that leads to the host of a virtual machine or into the kernel, and the usual ones', async () => {
    const open = `import socket\nfor family in (40, 38, 17, 1, 2, 10, 16):\n  try: socket.socket(family, socket.SOCK_DGRAM if family != 38 else 5); print(family, 'ok')\n  except OSError as error: print(family, error.errno)`;
    expect((await python(open)).stdout).toBe('40 97\n38 97\n17 97\n1 ok\n2 ok\n10 ok\n16 ok\n');
  });

  it('creates no setuid or setgid file in bubblewrap', async () => {
    const attempts = [
      'chmod 4755 file',
      'chmod g+s file',
      'cp /usr/bin/id . && chmod u+s id',
      'install -m 6755 /usr/bin/id installed',
      `python3 -c 'import os; os.open("opened", os.O_CREAT | os.O_WRONLY, 0o4755)'`,
      `python3 -c 'import os; os.mknod("node", 0o104755)'`,
      'printf x > id2; python3 -c \'import os; os.fchmod(os.open("id2", os.O_RDWR), 0o4755)\'',
    ];
    const { stderr } = await shell(`touch file; ${attempts.map((attempt) => `${attempt} || echo refused >&2`).join('; ')}`);
    expect(stderr.match(/^refused$/gm)).toHaveLength(attempts.length);
    for (const name of await readdir(workspace)) expect((await stat(join(workspace, name))).mode & 0o6000).toBe(0);
    expect((await shell('chmod 751 file && stat -c %a file')).stdout).toBe('751\n');
  });

  it('gets the system calls in bubblewrap that the configuration allows', async () => {
    const keyctl = REFUSED_SYSCALLS.find(({ name }) => name === 'keyctl')?.[process.arch === 'arm64' ? 'arm64' : 'x64'];
    const allowed = await python(CALL, [String(keyctl)], { syscalls: ['keyctl'] });
    expect(allowed.stdout).not.toBe('-1 1\n');
    expect((await python(CALL, [String(keyctl)])).stdout).toBe('-1 1\n');
  });

  it('traces in bubblewrap only processes that the command started', async () => {
    const trace = `import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.ptrace(0x4206, 1, 0, 0), ctypes.get_errno(), libc.ptrace(0, 0, 0, 0))`;
    expect((await python(trace)).stdout).toBe('-1 1 0\n');
  });

  it('creates threads and processes in bubblewrap, although calls with unreadable flags are refused', async () => {
    const threads = `import threading, subprocess\nt = threading.Thread(target=lambda: print('thread', flush=True)); t.start(); t.join()\nprint(subprocess.run(['echo', 'process'], capture_output=True, text=True).stdout)`;
    expect((await python(threads)).stdout).toBe('thread\nprocess\n\n');
    expect((await shell('unshare -U true || echo refused')).stdout).toBe('refused\n');
  });
});

/** Another user of this machine, whose files a worker that runs as root may give away. */
describe.each(ok && process.getuid?.() === 0 ? [sandbox] : [])('a command of a worker that runs as root', () => {
  let workspace: string;
  beforeAll(async () => {
    workspace = await mkdtemp(join(tmpdir(), 'toolyard-tenant-'));
    await writeFile(join(workspace, 'before'), 'text\n', { mode: 0o600 });
    await giveFolder(workspace, sandbox.userOf('acme'));
  });
  afterAll(() => rm(workspace, { recursive: true, force: true }));
  const shell = async (script: string, view?: SandboxView) => {
    const bash = { file: '/bin/bash', args: ['-c', script], cwd: workspace, env: { PATH: '/usr/bin:/bin' } };
    const command = sandbox.wrap(bash, workspace, view);
    const { stdout, stderr } = await runProcess(command, { signal: AbortSignal.timeout(50_000), graceMs: 0 });
    return stdout.text + stderr.text;
  };

  it('runs a command of a root worker as the unprivileged user of its tenant, without capabilities', async () => {
    expect(await shell('id -u; id -G; cat before; echo made > made; sed -i s/e/a/ before; grep -E "^(Cap|NoNew)" /proc/self/status')).toBe(
      '65534\n65534\ntext\n' +
        ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((set) => `Cap${set}:\t0000000000000000\n`).join('') +
        'NoNewPrivs:\t1\n',
    );
    expect(sandbox.userOf('acme')).not.toBe(sandbox.userOf('rival'));
    for (const name of ['made', 'before']) expect((await stat(join(workspace, name))).uid).toBe(sandbox.userOf('acme'));
  });

  it('reaches the workspace of a root worker by its whole path, with folders for temporary files', async () => {
    expect(await shell(`cat ${workspace}/before; for d in /tmp /var/tmp /dev/shm; do rm "$(mktemp -p $d)" && echo $d; done`)).toBe(
      'taxt\n/tmp\n/var/tmp\n/dev/shm\n',
    );
  });

  it('prevents a command of a root worker from becoming another user, or root in a namespace', async () => {
    const attempts = ['setpriv --reuid=0 id', 'unshare -U id', 'unshare -r id', 'chown 0 made', 'mount -t tmpfs x /mnt', 'kill -9 1'];
    const script = attempts.map((attempt) => `${attempt} >/dev/null 2>&1 && echo ${attempt}`).join('; ');
    expect(await shell(`${script}; head -c1 /proc/1/mem 2>/dev/null; id -u`)).toBe('65534\n');
  });

  it('opens for a command of a root worker only the paths of its call, and nothing else of root', async () => {
    const opened = await mkdtemp(join(tmpdir(), 'toolyard-opened-'));
    try {
      await writeFile(join(opened, 'secret'), 'secret\n', { mode: 0o600 });
      const view = (access: 'read' | 'write') => ({ visible: [{ path: opened, access }], hidden: [], readOnly: [] });
      const tries = `cat ${opened}/secret; touch ${opened}/new; printf x > /proc/sys/kernel/core_pattern; touch /usr/x`;
      expect(await shell(`(${tries}) 2>/dev/null; ls ${opened}`, view('read'))).toBe('secret\nsecret\n');
      expect(await shell(`(${tries}) 2>/dev/null; ls ${opened}`, view('write'))).toBe('secret\nnew\nsecret\n');
    } finally {
      await rm(opened, { recursive: true, force: true });
    }
  });
});

describe('the sandbox bubblewrap', () => {
  it('reports bubblewrap as working exactly if it isolates', async () => {
    expect(await sandbox.probe()).toMatchObject({ ok, isolation: ok ? 'namespaces' : 'none' });
  });

  it('reports bubblewrap as weaker if bwrap accepts no filter, and still runs commands', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolyard-old-bwrap-'));
    try {
      const bwrap = join(folder, 'bwrap');
      const script = 'case "$*" in *--seccomp*) echo "bwrap: Unknown option --seccomp" >&2; exit 1;; esac; exec bwrap "$@"';
      await writeFile(bwrap, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const config = sandboxConfig(z.object(SANDBOX_ENV).parse({ SANDBOX: 'bubblewrap' }));
      const registry = await SandboxRegistry.open(config, ['shell'], new BubblewrapSandbox({ ...config, bwrap }));
      const reason = expect.stringMatching(/^commands may make every system call, .*Unknown option --seccomp/);
      expect(registry.commands()).toEqual(
        ok ? { backend: 'bubblewrap', ok, isolation: 'namespaces', reason } : expect.objectContaining({ ok, isolation: 'none' }),
      );
      expect(registry.warnings()[0]).toMatch(ok ? /^Commands of tools are isolated less than they could be: / : /are refused/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
