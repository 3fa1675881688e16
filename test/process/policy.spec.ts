// All suites about what a policy decides of calls that run share one installation; each has agents with names of its own.
import { afterAll, beforeAll } from '@jest/globals';
import { allAgents, makePolicyPlaces, type PolicyInstallation } from '../support/policy-places.js';
import { startTestCluster } from '../support/test-cluster.js';
import { COMMAND_AGENTS, commandsContract } from './policy/commands.contract.js';
import { pathAgents, pathsContract } from './policy/paths.contract.js';
import { POSTURE_AGENTS, posturesContract } from './policy/postures.contract.js';
import { urlAgents, urlsContract } from './policy/urls.contract.js';

let installation: PolicyInstallation;
let close = async () => {};
const started = () => installation;

beforeAll(async () => {
  const { places, env, close: closePlaces } = await makePolicyPlaces();
  const agents = allAgents([COMMAND_AGENTS, pathAgents(places), urlAgents(places), POSTURE_AGENTS]);
  const toolyard = await startTestCluster({ env, config: { agents, limits: { actionsPerHour: 100_000 } } });
  installation = { ...places, toolyard };
  close = async () => {
    await toolyard.close();
    closePlaces();
  };
});

commandsContract(started);
pathsContract(started);
urlsContract(started);
posturesContract(() => installation.toolyard.agent);

// Runs after the suites have closed their own parts.
afterAll(() => close());
