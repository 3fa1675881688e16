// `npm run bench [-- --quick]`: builds first, then runs what was compiled.
import { startRedisServer } from '../support/redis-server.mjs';
import { bench } from '../../dist/test/bench/bench.js';

const DURABLE = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];

process.exitCode = (await bench(() => startRedisServer({ settings: DURABLE }), process.argv.slice(2))) ? 0 : 1;
