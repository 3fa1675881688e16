import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { RemoteHostSettings } from '#contracts';
import { freePort } from './free-port.mjs';
import { eventually } from './eventually.js';

const SSHD = '/usr/sbin/sshd';
/** No account of this machine: known in the user namespace of the server alone. */
const ORDINARY_USER = { name: 'toolyard-builder', id: 4_242 };

/** Debian's OpenSSH server on a port of this machine, with keys of its own; it lets in the user that runs it, and no other. */
export class SshServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'ssh-server-'));
  private process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    /** User of the server, if not the one that runs the test, who may be root. */
    private readonly ordinary: typeof ORDINARY_USER | undefined,
    private readonly isContained: boolean,
  ) {}

  /**
   * `contained`, as an ordinary user only: its commands write no other files than those in `folder`, and see no other processes
   * than theirs.
   *
   * @throws Error that names the Debian packages where OpenSSH is missing
   */
  static async start(options: { readonly asOrdinaryUser?: boolean; readonly contained?: boolean } = {}): Promise<SshServer> {
    if (!existsSync(SSHD)) throw new Error(`${SSHD} is missing: apt-get install openssh-server openssh-client`);
    const ordinary = options.asOrdinaryUser === true ? ORDINARY_USER : undefined;
    const server = new SshServer(await freePort(), ordinary, options.contained === true);
    for (const key of ['host', 'other', 'user', 'stranger'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'root@build host', '-f', server.path(key)]);
    writeFileSync(server.path('authorized'), readFileSync(server.path('user.pub')));
    mkdirSync(server.path('work'), { mode: 0o700 });
    chmodSync(server.path('authorized'), 0o600);
    // sshd refuses to start without it; the package makes it when its service starts.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    await server.listen();
    return server;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  publicKey(name: 'host' | 'other'): string {
    return readFileSync(this.path(`${name}.pub`), 'utf8').trim();
  }

  privateKey(): string {
    return readFileSync(this.path('user'), 'utf8');
  }

  /** Settings as an operator writes them. */
  settings(more: Partial<RemoteHostSettings> = {}): RemoteHostSettings {
    return {
      host: '127.0.0.1',
      port: this.port,
      user: this.ordinary?.name ?? userInfo().username,
      identity: { secretFile: this.path('user') },
      hostKeys: [this.publicKey('host')],
      folder: this.path('work'),
      tenant: 'default',
      agents: ['*'],
      sessions: ['*'],
      ...more,
    };
  }

  async listen(): Promise<void> {
    const config = this.path('sshd_config');
    writeFileSync(
      config,
      [
        `Port ${this.port}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${this.path('host')}`,
        `AuthorizedKeysFile ${this.path('authorized')}`,
        `PidFile ${this.path('pid')}`,
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PermitRootLogin prohibit-password',
        'AcceptEnv *',
        'AllowAgentForwarding yes',
        '',
      ].join('\n'),
    );
    const [program = SSHD, ...launcher] = this.launcher();
    this.process = spawn(program, [...launcher, '-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    this.process.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually(async () => {
      if (this.process?.exitCode !== null) throw new Error(`sshd ended: ${said}`);
      return listens(this.port);
    }, 'sshd to listen');
  }

  private launcher(): string[] {
    if (this.ordinary === undefined) return [SSHD];
    const { name, id } = this.ordinary;
    const known = { passwd: `${name}:x:${id}:${id}::${this.folder}:/bin/bash`, group: `${name}:x:${id}:` };
    const binds = Object.entries(known).flatMap(([file, line]) => {
      writeFileSync(this.path(file), `${readFileSync(`/etc/${file}`, 'utf8')}${line}\n`);
      return ['--ro-bind', this.path(file), `/etc/${file}`];
    });
    const user = ['--unshare-user', '--uid', String(id), '--gid', String(id)];
    const isolation = ['--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--tmpfs', '/tmp', '--bind', this.folder, this.folder];
    const root = this.isContained ? ['--ro-bind', '/', '/', ...isolation] : ['--dev-bind', '/', '/'];
    return ['bwrap', '--die-with-parent', ...root, ...binds, ...user, SSHD];
  }

  /** Accepts no more connections; those that are open stay. */
  async stopListening(): Promise<void> {
    const { process: running } = this;
    this.process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  }

  /** Ends the open connections as a failing network does: without a word to their clients. */
  cutConnections(): void {
    for (const pid of childrenOf(this.process?.pid)) process.kill(pid, 'SIGKILL');
  }

  async close(): Promise<void> {
    await this.stopListening();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function childrenOf(parent: number | undefined): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1]) === parent ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false));
  });
}
