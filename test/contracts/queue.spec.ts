import { queueContract } from './queue.contract.js';
import { bullQueue } from './bull-queue.js';

queueContract(bullQueue('BullMQ, batching backend', 'batching', 'batching'));
