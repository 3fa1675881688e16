import { join } from 'node:path';
import { LOCAL_INSTALLATION } from '#contracts';
import { ensureDirectory } from '#platform';

/** The paths of standalone's data; readable by this user only. */
export interface DataDirectory {
  readonly path: string;
  readonly key: string;
  readonly sourceTokenKey: string;
  /** Contains the gateway's address while it listens. */
  readonly address: string;
  readonly lock: string;
  readonly redis: string;
  readonly redisPid: string;
  readonly redisLog: string;
  readonly redisSocket: string;
}

/** Creates the directory if it is missing. `path` is its real path, since `/proc` reports working directories so. @throws StartupError */
export function openDataDirectory(path: string): DataDirectory {
  const root = ensureDirectory(path, 'data directory', 'TOOLYARD_DATA');
  ensureDirectory(join(root, 'redis'), 'data directory', 'TOOLYARD_DATA');
  return {
    path: root,
    redis: join(root, 'redis'),
    key: join(root, LOCAL_INSTALLATION.keyFile),
    sourceTokenKey: join(root, 'source-token-key'),
    address: join(root, LOCAL_INSTALLATION.addressFile),
    lock: join(root, 'lock'),
    redisPid: join(root, 'redis.pid'),
    redisLog: join(root, 'redis.log'),
    redisSocket: join(root, 'redis.sock'),
  };
}
