// A load for unsteady tests: `node test/support/busy.mjs` keeps as many cores busy as it may use, at normal priority, until it is ended.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

for (let n = 0; n < availableParallelism(); n += 1) new Worker('for (;;);', { eval: true });
