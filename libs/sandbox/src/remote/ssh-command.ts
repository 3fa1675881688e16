import type { RemoteHostSettings } from '#contracts';
import { SUPERVISOR } from './supervisor.js';

const CONNECT_SECONDS = 10;
const ALIVE_SECONDS = 10;

/** The files that ssh reads, both written by this process or named by the operator. */
export interface SshFiles {
  readonly knownHosts: string;
  readonly identity: string;
  /** Folder for messages of ssh itself, which contain addresses and must not mix with the output of commands. */
  readonly logs: string;
}

/** Name of a host's keys, independent of its address. */
export const hostAlias = (name: string): string => `toolyard-${name}`;

/** Content of the known hosts file of one host. */
export function knownHostsText(name: string, { hostKeys }: Pick<RemoteHostSettings, 'hostKeys'>): string {
  return hostKeys.map((key) => `${hostAlias(name)} ${key}\n`).join('');
}

/**
 * Arguments of `ssh`. Reads no configuration of the user or the machine, offers a single key, never prompts, forwards nothing,
 * connects only to a host with one of the known keys, and learns no new ones.
 */
export function sshArguments(name: string, { host, port, user }: RemoteHostSettings, files: Omit<SshFiles, 'logs'>, log: string): string[] {
  const options = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: files.knownHosts,
    GlobalKnownHostsFile: 'none',
    HostKeyAlias: hostAlias(name),
    CheckHostIP: 'no',
    UpdateHostKeys: 'no',
    VerifyHostKeyDNS: 'no',
    PreferredAuthentications: 'publickey',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    GSSAPIAuthentication: 'no',
    HostbasedAuthentication: 'no',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: files.identity,
    ForwardAgent: 'no',
    ForwardX11: 'no',
    ClearAllForwardings: 'yes',
    ControlMaster: 'no',
    ControlPath: 'none',
    PermitLocalCommand: 'no',
    ConnectTimeout: String(CONNECT_SECONDS),
    ConnectionAttempts: '1',
    ServerAliveInterval: String(ALIVE_SECONDS),
    ServerAliveCountMax: '3',
    LogLevel: 'ERROR',
  };
  const words = Object.entries(options).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
  return ['-F', 'none', '-T', '-E', log, ...words, '-p', String(port), '-l', user, '--', host, SUPERVISOR];
}
