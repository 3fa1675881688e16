// A load for unsteady tests: `node test/support/busy.mjs` keeps as many cores busy as it may use, at normal priority, until it is ended.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }));
