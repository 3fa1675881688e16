import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartFailure, systemCode } from '../start-failure.js';

/** Where standalone keeps everything it must find again; readable by this user only. */
export interface DataDirectory {
  readonly path: string;
  readonly key: string;
  readonly lock: string;
  readonly redis: string;
  readonly redisPid: string;
  readonly redisLog: string;
  readonly redisSocket: string;
}

/** Makes the directory when it is missing. Throws a StartFailure when it cannot be used. */
export function openDataDirectory(path: string): DataDirectory {
  const root = makeWritable(resolve(path));
  return {
    path: root,
    redis: join(root, 'redis'),
    key: join(root, 'key'),
    lock: join(root, 'lock'),
    redisPid: join(root, 'redis.pid'),
    redisLog: join(root, 'redis.log'),
    redisSocket: join(root, 'redis.sock'),
  };
}

/** Its real path: a process tells its directory without symlinks. */
function makeWritable(path: string): string {
  const redis = join(path, 'redis');
  try {
    mkdirSync(redis, { recursive: true, mode: 0o700 });
    for (const directory of [path, redis]) accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(path);
  } catch (error) {
    throw new StartFailure(
      `Cannot write to the data directory ${path} (${systemCode(error) ?? 'unknown error'}). Make it writable for this user, or set TOOLYARD_DATA to another directory.`,
      { cause: error },
    );
  }
}
