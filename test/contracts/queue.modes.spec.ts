import { queueContract } from './queue.contract.js';
import { bullQueue } from './bull-queue.js';

// The default mode is in queue.spec.ts; these are BullMQ's own backend, and producers and workers of different backends.
queueContract(bullQueue('BullMQ, stock backend', 'stock', 'stock'));
queueContract(bullQueue('BullMQ, stock producers and batching workers', 'stock', 'batching'));
queueContract(bullQueue('BullMQ, batching producers and stock workers', 'batching', 'stock'));
