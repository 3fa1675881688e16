import { join } from 'node:path';
import { LOCAL_INSTALLATION } from '#contracts';
import { ensureDirectory } from '#platform';

/** Where standalone keeps everything it must find again; readable by this user only. */
export interface DataDirectory {
  readonly path: string;
  readonly key: string;
  /** Where the gateway listens, while it does. */
  readonly address: string;
  readonly lock: string;
  readonly redis: string;
  readonly redisPid: string;
  readonly redisLog: string;
  readonly redisSocket: string;
}

/** Makes the directory when it is missing. Throws a StartupError when it cannot be used. A process tells its directory without symlinks, so that is its real path. */
export function openDataDirectory(path: string): DataDirectory {
  const root = ensureDirectory(path, 'data directory', 'TOOLYARD_DATA');
  ensureDirectory(join(root, 'redis'), 'data directory', 'TOOLYARD_DATA');
  return {
    path: root,
    redis: join(root, 'redis'),
    key: join(root, LOCAL_INSTALLATION.keyFile),
    address: join(root, LOCAL_INSTALLATION.addressFile),
    lock: join(root, 'lock'),
    redisPid: join(root, 'redis.pid'),
    redisLog: join(root, 'redis.log'),
    redisSocket: join(root, 'redis.sock'),
  };
}
