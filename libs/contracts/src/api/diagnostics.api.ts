import { z } from 'zod';

/** Settings of a Redis server on which Toolyard's guarantees rest. Absent if the server does not reveal them (CONFIG may be forbidden). */
export const RedisServerInfo = z
  .object({
    server: z.enum(['redis', 'valkey']).describe('Which of the two it is.'),
    version: z.string().describe('Its version, such as `7.2.4`.'),
    mode: z.string().describe('`standalone`, `sentinel` or `cluster`.'),
    role: z.string().describe('`master` or `slave`.'),
    replicas: z.number().int().describe('Replicas that are connected.'),
    appendOnly: z.boolean().describe('Whether it writes an append-only file.'),
    appendFsync: z.string().optional().describe('`always`, `everysec` or `no`. Absent where CONFIG is forbidden.'),
    minReplicasToWrite: z.number().int().optional().describe('Replicas without which it refuses writes. Absent where CONFIG is forbidden.'),
    lastWriteOk: z.boolean().describe('Whether its last write to the append-only file succeeded.'),
    maxmemoryPolicy: z.string().describe('What it does when memory is full; `noeviction` is needed.'),
    maxmemoryBytes: z.number().int().describe('Most memory that it uses for data, in bytes; 0 for no bound.'),
    usedMemoryBytes: z.number().int().describe('Memory in use, in bytes.'),
    time: z.string().describe('Its clock: RFC 3339, UTC.'),
  })
  .meta({ id: 'RedisFacts', description: 'What a Redis says of itself, as far as the promises of Toolyard rest on it.' });
export type RedisServerInfo = z.output<typeof RedisServerInfo>;

/** Running gateway or worker, as stored in Redis. `protocol` and `oldestCompatible` keep their names in all releases. */
export const RunningProcess = z
  .object({
    kind: z.enum(['gateway', 'worker', 'projector']).describe('Which of them it is.'),
    id: z.string().describe('Its GATEWAY_NAME or WORKER_ID.'),
    version: z.string().describe('Version of the release.'),
    protocol: z.number().int().describe('Number of the protocol between gateways and workers that the process speaks.'),
    oldestCompatible: z.number().int().describe('The oldest protocol that the process works together with.'),
    tenantCallBytes: z.number().optional().describe('Its TENANT_CALL_BYTES. Absent for projectors, and for a process of an older version.'),
  })
  .meta({ id: 'RunningProcess', description: 'A gateway or worker that runs.' });
export type RunningProcess = z.output<typeof RunningProcess>;

/** Fault of a gateway that goes on. Programs tell them apart by the code. */
export const GatewayWarning = z
  .object({
    code: z
      .enum(['config_refused', 'few_replicas', 'redis_memory'])
      .describe(
        '`config_refused`: the config file is not in force. `few_replicas`: REPLICAS is smaller than the number that Sentinel knows. `redis_memory`: new calls are refused.',
      ),
    message: z.string().describe('What is wrong, for people.'),
  })
  .meta({ id: 'GatewayWarning', description: 'What is wrong with a gateway without stopping it.' });
export type GatewayWarning = z.output<typeof GatewayWarning>;

/** Response of `GET /v1/diagnostics`: facts that an operator compares on unexpected behaviour. Times are those of the response. */
export const Diagnostics = z
  .object({
    version: z.string().describe('Version of Toolyard.'),
    node: z.string().describe('Version of Node.'),
    gateway: z.string().describe('Name of the gateway that answers.'),
    time: z.string().describe('Its clock: RFC 3339, UTC.'),
    durability: z.enum(['local', 'replicated']).describe('`replicated`: a submission is acknowledged when replicas have it, too.'),
    partitions: z.number().int().describe('Partitions of the event log; fixed for the installation.'),
    protocol: z.number().int().describe('Number of the protocol between gateways and workers that this gateway speaks.'),
    processes: z.array(RunningProcess).describe('Gateways and workers that run.'),
    redis: RedisServerInfo.describe('The Redis of the installation, as far as promises rest on it.'),
    config: z
      .object({
        file: z.string().describe('Its path.'),
        sha256: z.string().describe('SHA-256 of the file in force, 64 hexadecimal digits. Gateways of one installation have the same.'),
        keys: z.number().int().optional().describe('Number of keys.'),
        agents: z.number().int().optional().describe('Number of agents.'),
        hooks: z.number().int().optional().describe('Number of hooks.'),
      })
      .optional()
      .describe('The config file and how much it brings. Absent without one; while the file is refused its numbers are absent.'),
    warnings: z.array(GatewayWarning).describe('What is wrong without stopping the gateway.'),
  })
  .meta({
    id: 'Diagnostics',
    description: 'What an operator compares when something is odd. Times are those of the moment of the answer.',
  });
export type Diagnostics = z.output<typeof Diagnostics>;
