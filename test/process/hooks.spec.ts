// All suites about hooks share one installation: each has agents, webhooks and files with names of its own.
import { afterAll, beforeAll } from '@jest/globals';
import { HookTestCluster } from '../support/hook-test-cluster.js';
import { afterAgents, hooksAfterContract } from './hooks/after.contract.js';
import { beforeAgents, hooksBeforeContract } from './hooks/before.contract.js';
import { eventAgents, hookEventsContract } from './hooks/events.contract.js';
import { hookOrderContract, orderAgents } from './hooks/order.contract.js';
import { hookSecretsContract, secretAgents } from './hooks/secrets.contract.js';
import { hookStopsContract, stopAgents } from './hooks/stops.contract.js';

let hooked: HookTestCluster;
const started = () => hooked;

beforeAll(async () => {
  hooked = await HookTestCluster.start([beforeAgents, stopAgents, afterAgents, orderAgents, secretAgents, eventAgents]);
});

hooksBeforeContract(started);
hookStopsContract(started);
hooksAfterContract(started);
hookOrderContract(started);
hookSecretsContract(started);
hookEventsContract(started);

// After what the suites close themselves.
afterAll(() => hooked?.close());
