import { spawnSync } from 'node:child_process';
import { StartupError } from '../start-failure.js';

const MISSING =
  'redis-server is missing. Install it with `apt-get install redis-server` (Debian, Ubuntu) or `brew install redis` (macOS), ' +
  'or run `docker run -d -p 6379:6379 redis:7 --appendonly yes --appendfsync always --maxmemory-policy noeviction` and set REDIS_URL=redis://127.0.0.1:6379.';

/** The server program on PATH. @throws StartupError without one, or with one before Redis 7 */
export function findRedisServer(): string {
  for (const program of ['redis-server', 'valkey-server']) {
    const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (status !== 0) continue;
    const version = /\bv=(\d+)\.(\d+)/.exec(stdout);
    if (Number(version?.[1]) >= 7) return program;
    throw new StartupError(
      `${program} is version ${version?.[0].slice(2) ?? 'unknown'}, but Toolyard needs 7.0 or newer. Install a newer one, or set REDIS_URL to a server that is.`,
    );
  }
  throw new StartupError(MISSING);
}
