// `npm run bench [-- --quick]`: builds first, then runs what was compiled.
import { startRedisServer } from '../support/redis-server.mjs';
import { bench } from '../../dist/test/bench/bench.js';

// The rewrite of the append-only file is off on both sides: it would fall into whichever round it likes.
const DURABLE = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-percentage', '0'];

process.exitCode = (await bench(() => startRedisServer({ settings: DURABLE }), process.argv.slice(2))) ? 0 : 1;
