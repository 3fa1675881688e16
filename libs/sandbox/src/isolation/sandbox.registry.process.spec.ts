import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { controlGroupsFolder } from '../process/control-groups.js';
import { BubblewrapSandbox } from './bubblewrap-sandbox.adapter.js';
import { DEFAULT_LIMITS } from './default-limits.js';
import { SANDBOX_ENV, sandboxConfig, validateSandboxConfig } from './sandbox.config.js';
import type { SandboxReport } from './sandbox.port.js';
import { SandboxRegistry } from './sandbox.registry.js';

const read = (env: Record<string, string> = {}) => sandboxConfig(z.object(SANDBOX_ENV).parse(env));
const missing = new BubblewrapSandbox({ bwrap: '/nonexistent/bwrap' });
/** Bubblewrap whose probe always reports success. */
class WorkingBubblewrap extends BubblewrapSandbox {
  override async probe(): Promise<SandboxReport> {
    return { name: this.name, ok: true, isolation: 'namespaces', detail: 'works' };
  }
}

describe('the sandbox settings', () => {
  it('reads sandbox settings of one word for all pools, or of pairs, and leaves the rest to choose for itself', () => {
    expect(read().backends).toEqual({ read: 'auto', write: 'auto', shell: 'auto', net: 'auto', agent: 'auto' });
    expect(read({ SANDBOX: 'none' }).backends).toEqual({ read: 'none', write: 'none', shell: 'none', net: 'none', agent: 'none' });
    expect(read({ SANDBOX: 'shell=bubblewrap, net=host' }).backends).toMatchObject({ shell: 'bubblewrap', net: 'host', read: 'auto' });
  });

  it('sets limits and no network for sandboxes unless configured otherwise', () => {
    expect(read()).toMatchObject({ network: 'none', readable: [], required: [], limits: DEFAULT_LIMITS });
    expect(
      read({ SANDBOX_NETWORK: 'host', SANDBOX_READABLE: '/opt/tools, /nix', SANDBOX_MEMORY_BYTES: '67108864', SANDBOX_PROCESSES: '32' }),
    ).toMatchObject({
      network: 'host',
      readable: ['/opt/tools', '/nix'],
      limits: { memoryBytes: 67_108_864, processes: 32 },
    });
  });

  it.each([
    [{ SANDBOX: 'docker' }, 'one of auto, bubblewrap, host, none'],
    [{ SANDBOX: 'shell=docker' }, 'or pairs such as shell=bubblewrap,net=host'],
    [{ SANDBOX: 'container' }, 'container is not implemented: no container engine was there to try it with'],
    [{ SANDBOX: 'shell=container' }, 'container is not implemented'],
    [{ SANDBOX: 'shall=host' }, 'with the pools read, write, shell, net, agent'],
    [{ SANDBOX_REQUIRED: 'yes' }, 'expected true, false or a list of'],
    [{ SANDBOX_NETWORK: 'some' }, 'expected none or host'],
    [{ SANDBOX_READABLE: 'opt' }, 'absolute paths'],
    [{ SANDBOX_READABLE: '/' }, 'absolute paths'],
    [{ SANDBOX_SYSCALLS: 'ptrace,everything' }, 'expected a list of bpf, io_uring'],
    [{ SANDBOX_MEMORY_BYTES: '2G' }, 'expected a whole number'],
    [{ SANDBOX_PROCESSES: '1' }, 'expected a whole number from 8'],
  ])('refuses the sandbox settings %j and says what was expected [PP-47]', (env, message) => {
    expect(() => read(env)).toThrow(message);
  });

  it('refuses to require isolation of a pool that is to run on the host', () => {
    expect(validateSandboxConfig(read({ SANDBOX: 'host', SANDBOX_REQUIRED: 'shell' }))).toEqual([
      expect.stringContaining('isolation of shell'),
    ]);
    expect(validateSandboxConfig(read({ SANDBOX: 'shell=bubblewrap,net=host', SANDBOX_REQUIRED: 'shell' }))).toEqual([]);
    expect(validateSandboxConfig(read({ SANDBOX_REQUIRED: 'true' }))).toEqual([]);
  });
});

describe('the sandbox of a pool', () => {
  /** Another warning is about limits, and depends on who runs the tests. */
  const aboutIsolation = (registry: SandboxRegistry) => registry.warnings().filter((it) => it.startsWith('Commands'));
  const open = (env: Record<string, string>, bubblewrap: BubblewrapSandbox = missing) =>
    SandboxRegistry.open(read(env), ['read', 'shell'], bubblewrap);

  it('chooses bubblewrap for a pool if it works, silently', async () => {
    const registry = await open({}, new WorkingBubblewrap());
    expect(registry.for('shell').name).toBe('bubblewrap');
    expect(registry.status().shell).toEqual({ backend: 'bubblewrap', ok: true, isolation: 'namespaces' });
    expect(aboutIsolation(registry)).toEqual([]);
  });

  it('chooses the host with one clear warning if no sandbox is set and bubblewrap fails', async () => {
    const registry = await open({});
    expect(registry.for('shell').name).toBe('host');
    expect(registry.status().shell).toMatchObject({
      backend: 'host',
      ok: true,
      isolation: 'none',
      reason: expect.stringContaining('apt-get install bubblewrap'),
    });
    expect(aboutIsolation(registry)).toEqual([
      expect.stringMatching(/^Commands of tools run with the rights of this worker: [^\n]*SANDBOX_REQUIRED=true refuses[^\n]*$/),
    ]);
  });

  it('refuses a pool where isolation is required or was asked for and does not work [PP-47]', async () => {
    const settings: Record<string, string>[] = [
      { SANDBOX_REQUIRED: 'true' },
      { SANDBOX_REQUIRED: 'shell' },
      { SANDBOX: 'bubblewrap' },
      { SANDBOX: 'shell=bubblewrap' },
    ];
    for (const env of settings) {
      const registry = await open(env);
      expect(registry.status().shell).toMatchObject({
        backend: 'bubblewrap',
        ok: false,
        reason: expect.stringContaining('install bubblewrap'),
      });
      expect(registry.warnings()).toEqual([expect.stringMatching(/^Commands of tools are refused: /)]);
    }
  });

  it('chooses the sandbox that was asked for, and says what the host means [PP-47]', async () => {
    const registry = await open({ SANDBOX: 'shell=host,read=none' });
    expect(registry.status()).toMatchObject({
      read: { backend: 'none', ok: false },
      shell: { backend: 'host', ok: true, isolation: 'none' },
    });
    expect(registry.status().shell?.reason).toContain('with the rights of the worker');
    expect(aboutIsolation(registry)).toEqual([]);
  });

  it('warns that the kernel does not limit processes on the host exactly if the worker may create no control groups', async () => {
    const registry = await open({ SANDBOX: 'host' });
    const isHeld = process.platform !== 'linux' || controlGroupsFolder('pids') !== undefined;
    expect(registry.warnings()).toEqual(isHeld ? [] : [expect.stringContaining('not enforced by the kernel')]);
  });

  it('offers a sandbox for commands also when this process does not serve their pool, and then does not report it', async () => {
    const registry = await SandboxRegistry.open(read({}), ['net'], missing);
    expect(registry.for('shell').name).toBe('host');
    expect(Object.keys(registry.status())).toEqual(['net']);
    expect(aboutIsolation(registry)).toEqual([]);
    expect(registry.for('write').name).toBe('none');
  });
});
