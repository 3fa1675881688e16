// `npm run bench [-- --quick]`: builds first, then runs what was compiled.
import { startRedisServer } from '../support/redis-server.mjs';
import { bench } from '../../dist/test/bench/bench.js';

// The rewrite of the append-only file is off on both sides: it would fall into whichever round it likes.
const settings = (fsync) => ['--save', '', '--appendonly', 'yes', '--appendfsync', fsync, '--auto-aof-rewrite-percentage', '0'];
const startRedis = (fsync = 'always') => startRedisServer({ settings: settings(fsync) });

process.exitCode = (await bench(startRedis, process.argv.slice(2))) ? 0 : 1;
