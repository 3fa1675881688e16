import { z } from 'zod';
import { LOCAL_INSTALLATION } from '#contracts';
import { environmentFaults, withoutEmpty } from '#platform';
import { GatewayEnv } from '../../gateway/src/platform/gateway-env.config.js';
import { ProjectorEnv } from '../../projector/src/projector.config.js';
import { WorkerEnv } from '../../worker/src/platform/worker-env.config.js';
import { StartupError } from './start-failure.js';

/** The gateway's schema describes them. */
export const StandaloneEnv = z.object({
  TOOLYARD_DATA: z.string().min(1).default(LOCAL_INSTALLATION.data),
  REDIS_URL: z.string().min(1).optional(),
  DATABASE_URL: z.string().optional(),
  ARCHIVE_URL: z.string().optional(),
  TOOLYARD_API_KEY: z.string().min(16, 'expected at least 16 characters').optional(),
});

/** Names of all variables that this process and its apps read. */
export const STANDALONE_VARIABLES = [GatewayEnv, WorkerEnv, ProjectorEnv, StandaloneEnv].flatMap(({ shape }) => Object.keys(shape));

export interface StandaloneConfig {
  readonly dataDirectory: string;
  /** Set: this Redis is used and none is started. */
  readonly redisUrl: string | undefined;
  /** Set: this database is used and none is started; `none`: there are no lists. */
  readonly databaseUrl: string | undefined;
  /** Set: this archive is used instead of the one in the data directory; `none`: nothing leaves Redis. */
  readonly archiveUrl: string | undefined;
  /** Set: this is the key, and the key file is not used. */
  readonly apiKey: string | undefined;
}

/** The variables of standalone itself; gateway and worker read theirs from the same environment. `NAME=` means not set. */
export function readStandaloneConfig(env: NodeJS.ProcessEnv): StandaloneConfig {
  const parsed = StandaloneEnv.safeParse(withoutEmpty(env));
  if (!parsed.success) throw new StartupError(environmentFaults(parsed.error).join('\n'));
  return {
    dataDirectory: parsed.data.TOOLYARD_DATA,
    redisUrl: parsed.data.REDIS_URL,
    databaseUrl: parsed.data.DATABASE_URL,
    archiveUrl: parsed.data.ARCHIVE_URL,
    apiKey: parsed.data.TOOLYARD_API_KEY,
  };
}
