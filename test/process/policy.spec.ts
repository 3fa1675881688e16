// All suites about what a policy decides of calls that run share one installation; each has agents with names of its own.
import { afterAll, beforeAll } from '@jest/globals';
import { startPolicyInstallation, type PolicyInstallation } from '../support/policy-installation.js';
import { COMMAND_AGENTS, commandsContract } from './policy/commands.contract.js';
import { pathAgents, pathsContract } from './policy/paths.contract.js';
import { POSTURE_AGENTS, posturesContract } from './policy/postures.contract.js';
import { urlAgents, urlsContract } from './policy/urls.contract.js';

let installation: PolicyInstallation;
const started = () => installation;

beforeAll(async () => {
  installation = await startPolicyInstallation((places) => [COMMAND_AGENTS, pathAgents(places), urlAgents(places), POSTURE_AGENTS]);
});

commandsContract(started);
pathsContract(started);
urlsContract(started);
posturesContract(() => installation.agent);

// After what the suites close themselves.
afterAll(() => installation?.close());
