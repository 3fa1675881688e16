// All suites about hooks share one tenant: each has agents, webhooks and files with names of its own.
import { afterAll, beforeAll } from '@jest/globals';
import { HookTenant } from '../support/hook-tenant.js';
import { afterAgents, hooksAfterContract } from './hooks/after.contract.js';
import { beforeAgents, hooksBeforeContract } from './hooks/before.contract.js';
import { eventAgents, hookEventsContract } from './hooks/events.contract.js';
import { hookOrderContract, orderAgents } from './hooks/order.contract.js';
import { hookSecretsContract, secretAgents } from './hooks/secrets.contract.js';
import { hookStopsContract, stopAgents } from './hooks/stops.contract.js';

let hooked: HookTenant;
const started = () => hooked;

beforeAll(async () => {
  hooked = await HookTenant.start([beforeAgents, stopAgents, afterAgents, orderAgents, secretAgents, eventAgents]);
});

hooksBeforeContract(started);
hookStopsContract(started);
hooksAfterContract(started);
hookOrderContract(started);
hookSecretsContract(started);
hookEventsContract(started);

// Runs after the suites have closed their own parts.
afterAll(() => hooked?.close());
