import { z } from 'zod';
import { SecretRef } from '../sources/source-fields.js';
import { Label } from '../values/names.js';

/** Host that runs commands of some calls, over ssh. */
export const RemoteHostSettings = z
  .strictObject({
    host: z
      .string()
      .regex(/^[A-Za-z0-9:][A-Za-z0-9.:_-]{0,252}$/, 'expected a host name or an address, without a user and a port')
      .describe('Name or address of the host.'),
    port: z.number().int().min(1).max(65_535).default(22).describe('Port of its ssh server.'),
    user: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'expected the name of a user')
      .describe('The account that runs the commands. They may do there all that it may.'),
    identity: SecretRef.describe(
      'The private key, without a passphrase: `{"secretFile": "/run/secrets/build"}` or `{"secretEnv": "NAME"}`.',
    ),
    hostKeys: z
      .array(
        z
          .string()
          .max(2_000)
          .regex(
            /^(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( [ -~]*)?$/,
            'expected a line such as "ssh-ed25519 AAAAC3…", as ssh-keyscan prints it without the name of the host, or as a .pub file has it',
          ),
      )
      .min(1, 'expected at least one key: a host that is not known is not connected to')
      .max(10)
      .describe('Public keys of the host. A host with another key is not connected to.'),
    folder: z
      .string()
      .max(1_024)
      .regex(/^\/[^\0\n]*[^\0\n/]$/, 'expected an absolute path')
      .describe('Where sessions keep their files on the host.'),
    tenant: Label.describe('The tenant whose calls run there. A host serves one.'),
    agents: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(100)
      .describe('Globs of agents whose commands run there; `*`: all, and calls without an agent.'),
    sessions: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(100)
      .default(['*'])
      .describe('Globs of sessions; `*`: all, and calls without a session.'),
  })
  .meta({ id: 'RemoteHostSettings', description: 'A host that is reached over ssh.' });
export type RemoteHostSettings = z.output<typeof RemoteHostSettings>;

/** Hosts by name. The first one with a matching tenant, agent and session runs the commands of a call. */
export const RemoteHosts = z
  .record(Label, RemoteHostSettings)
  .superRefine((hosts, context) => {
    const account = ({ host, port, user }: RemoteHostSettings) => `${user}@${host}:${port}`;
    for (const [name, settings] of Object.entries(hosts)) {
      const [other] = Object.entries(hosts).find(([, it]) => account(it) === account(settings) && it.tenant !== settings.tenant) ?? [];
      if (other === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [name, 'user'],
        message: `expected another account: ${account(settings)} is that of ${other}, which is of another tenant, and tenants must not see each other's files`,
      });
    }
  })
  .default({});
export type RemoteHosts = z.output<typeof RemoteHosts>;
