import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { SafetySettings } from '#contracts';
import { ConformanceSuite, faultsOf } from '../support/mcp-conformance.js';
import { createConformanceServer, TASK_MS } from '../support/mcp-conformance-server.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';

const PROMPTS = 'it is about prompts, which /mcp does not have';
const FIXED_RESOURCES = 'it reads resources of the suite; those of /mcp are outputs of calls';
const SUBSCRIBED_RESOURCES = 'outputs of calls do not change, so no client subscribes to them';
const LOGGING = 'it is about logging, which is deprecated and not offered';
const COMPLETION = 'it is about completion, which needs prompts or resource templates with arguments to choose';
const KEY_OF_TOOL = 'it wants the key that its tool gives a question; the gateway names questions by the attempt that asks';
const WITHOUT_STATE = 'it answers without requestState, which says what is answered: that is a new call, as without an answer';
const ONE_QUESTION = 'a call has one open question at a time: the next one comes after the answer';
const ROOTS = 'roots are deprecated and not passed on';
const TASK_FIRST = 'a client that takes tasks has the task first, and then its questions';
const PROTOCOL_ERRORS = 'a call that fails has an error result for the model, never a JSON-RPC error';
const OPTIONAL_TASKS = 'a call is a task only for clients that can take one';
/** The suite reads the answer for half a second, which a busy machine may not have. */
const NOT_IN_TIME = /^(?:Failed to receive progressive stream chunk|Logging target endpoint context dropped)/;
const NOT_IN_SUITE = 'the suite itself skips it';
const STREAM_CLOSED_BY_TOOL = 'a tool cannot close the stream of its client';

/** Scenarios that do not apply, with the reason. All others must succeed. */
const EXCEPT: Readonly<Record<string, string>> = {
  'completion-complete': COMPLETION,
  'input-required-result-basic-elicitation': KEY_OF_TOOL,
  'input-required-result-basic-list-roots': ROOTS,
  'input-required-result-ignore-extra-params': WITHOUT_STATE,
  'input-required-result-multiple-input-requests': ONE_QUESTION,
  'input-required-result-non-tool-request': PROMPTS,
  'logging-set-level': LOGGING,
  'prompts-get-embedded-resource': PROMPTS,
  'prompts-get-simple': PROMPTS,
  'prompts-get-with-args': PROMPTS,
  'prompts-get-with-image': PROMPTS,
  'prompts-list': PROMPTS,
  'resources-read-binary': FIXED_RESOURCES,
  'resources-read-text': FIXED_RESOURCES,
  'resources-subscribe': SUBSCRIBED_RESOURCES,
  'resources-templates-read': FIXED_RESOURCES,
  'resources-unsubscribe': SUBSCRIBED_RESOURCES,
  'server-sse-polling': STREAM_CLOSED_BY_TOOL,
  'tasks-mrtr-composition': TASK_FIRST,
  'tasks-required-task-error': OPTIONAL_TASKS,
  'tasks-status-notifications': NOT_IN_SUITE,
  'tools-call-with-logging': LOGGING,
};

/** The suite runs scenarios of extensions only by name. Those that do not apply are above. */
const TASKS = [
  'tasks-capability-negotiation',
  'tasks-dispatch-and-envelope',
  'tasks-lifecycle',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-request-state-removal',
  'tasks-wire-fields',
];

/** Single checks that do not apply, of scenarios whose other checks do. */
const EXCEPT_CHECKS: Readonly<Record<string, string | RegExp>> = {
  'tasks-mrtr-partial-fulfillment': ONE_QUESTION,
  'sep-2549-prompts-list-caching-hints': PROMPTS,
  'sep-2575-http-server-no-independent-requests-on-stream': NOT_IN_TIME,
  'sep-2575-server-no-log-without-loglevel': NOT_IN_TIME,
  'sep-2663-tasks-get-status-failed': PROTOCOL_ERRORS,
};

describe('the conformance suite of the Model Context Protocol', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-conformance-'));
  let suite: ConformanceSuite;
  let tools: WebServer;
  let bridge: Bridge;
  beforeAll(async () => {
    const installing = ConformanceSuite.install(folder);
    const handler = createMcpHandler(() => createConformanceServer());
    tools = await serveWeb((request) => handler.fetch(request));
    bridge = await startBridge([{ name: 'suite', kind: 'mcp', url: tools.url, trust: true }], {
      // The tools of the suite that ask for something are asked about; all others run.
      defaultPosture: { autonomy: 'full', permissionMode: 'workspace-write' },
      mcp: { answerMs: 20_000, taskMs: TASK_MS },
      // The suite compares texts: they have no mark of untrusted content.
      safety: SafetySettings.parse({ provenance: { trusted: ['suite'] } }),
    });
    suite = await installing;
  });
  afterAll(async () => {
    await bridge?.close();
    tools?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['revision 2025-11-25', ['--suite', 'all', '--spec-version', '2025-11-25'], 19],
    ['revision 2026-07-28', ['--suite', 'all', '--spec-version', '2026-07-28'], 26],
  ])(
    'passes the MCP conformance suite as a server for %s: each scenario that applies has a success and no failure',
    async (_what, options, applying) => {
      const scenarios = (await suite.server(bridge.openUrl, options)).filter(({ name }) => EXCEPT[name] === undefined);
      expect(scenarios.flatMap((scenario) => faultsOf(scenario, EXCEPT_CHECKS))).toEqual([]);
      expect(scenarios).toHaveLength(applying);
    },
  );

  it('passes the MCP conformance suite as a server for the tasks extension', async () => {
    const runs = TASKS.map((scenario) => suite.server(bridge.openUrl, ['--scenario', scenario]));
    const scenarios = (await Promise.all(runs)).flat();
    expect(scenarios.flatMap((scenario) => faultsOf(scenario, EXCEPT_CHECKS))).toEqual([]);
    expect(scenarios.map(({ name }) => name).sort()).toEqual(TASKS.toSorted());
  });
});
