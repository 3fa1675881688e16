import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SourceSettings, type SourcePage, type ToolDescriptor } from '#contracts';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { packedFile } from '../support/packed-file.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { requestFaults, seedArguments } from '../support/tool-requests.js';
import { startValidatingMock, type ValidatingMock } from '../support/validating-mock.js';

const PACKAGE = '@octokit/openapi@23.0.2';
const SEED = 20_261_123;
const COUNT = 200;

/** Bodies of GitHub's document that fit two branches of a `oneOf`, as both lists of ids for `orgs_delete-attestations-bulk`. */
const OVERLAPPING = [
  'orgs_delete-attestations-bulk: input/properties/body',
  'repos_create-org-ruleset: input/properties/body/properties/conditions',
  'repos_update-org-ruleset: input/properties/body/properties/conditions',
  'issues_set-labels: input/properties/body',
  'codespaces_create-for-authenticated-user: input/properties/body',
  'users_delete-attestations-bulk: input/properties/body',
];

describe("operations of GitHub's document, called through gateway and worker", () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-github-'));
  let redis: RedisServer;
  let gateway: TestGateway;
  let worker: RunningWorker;
  let mock: ValidatingMock;
  let stylesMock: ValidatingMock;
  let tools: ToolDescriptor[];

  beforeAll(async () => {
    const path = packedFile(folder, PACKAGE, 'generated/api.github.com.json');
    const stylesPath = join(folder, 'styles.json');
    writeFileSync(stylesPath, JSON.stringify(STYLES));
    [redis, mock, stylesMock] = await Promise.all([startRedisServer(), startValidatingMock(path), startValidatingMock(stylesPath)]);
    const sources = [
      { name: 'github', kind: 'openapi', path, url: mock.url, trust: true, maxTools: 5_000 },
      { name: 'styles', kind: 'openapi', path: stylesPath, url: stylesMock.url, trust: true },
    ].map((source) => SourceSettings.parse(source));
    gateway = await startTestGateway('default', { redisUrl: redis.url, sources });
    const env = { PATH: process.env['PATH'], REDIS_URL: redis.url, WORKER_PORT: 'off', WORKSPACE_ROOT: folder, LOG_LEVEL: 'silent' };
    worker = await startWorker(readWorkerConfig(env));
    const listed = async () => (await gateway.agent.get<SourcePage>('/v1/sources')).body.sources;
    await eventually(async () => (await listed()).every(({ status }) => status === 'ok'), 'the documents to be read');
    tools = (await gateway.agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;
    seedArguments(SEED);
  });
  afterAll(async () => {
    await worker?.close();
    await gateway?.close();
    mock?.close();
    stylesMock?.close();
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const of = (name: string) => tools.filter(({ source }) => source === name);

  const faultsOf = (chosen: readonly ToolDescriptor[], at: ValidatingMock) => requestFaults(chosen, gateway, at);

  it("turns every operation of GitHub's document into a tool", async () => {
    const { body } = await gateway.agent.get<{ problems: string[] }>('/v1/sources/github');
    const overlapping = body.problems.map((problem) =>
      problem.replace(' has branches of oneOf that overlap; the API decides which one is meant', ''),
    );
    expect({ tools: of('github').length, overlapping }).toEqual({ tools: 1_223, overlapping: OVERLAPPING });
  });

  it(`sends requests valid for GitHub's document: ${COUNT} drawn by seed, and those with rare bodies`, async () => {
    const rare = of('github').filter(({ name }) => ['markdown_render-raw', 'repos_upload-release-asset'].includes(name));
    const drawn = fc.sample(fc.shuffledSubarray(of('github'), { minLength: COUNT, maxLength: COUNT }), { seed: SEED, numRuns: 1 })[0] ?? [];
    expect([rare.length, drawn.length]).toEqual([2, COUNT]);
    expect(await faultsOf([...rare, ...drawn], mock)).toEqual([]);
    expect(new Set(mock.requests.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
  });

  it('sends requests that fit a document with parameters in every place and most styles, and every kind of body', async () => {
    expect(of('styles').length).toBe(Object.keys(STYLES.paths).length);
    for (let round = 0; round < 3; round += 1) expect(await faultsOf(of('styles'), stylesMock)).toEqual([]);
  });
});

/**
 * Every place and style of a parameter, and bodies of every kind. Values are such that a wrong style does not fit. Prism
 * cannot read `spaceDelimited`, and ends at lists, objects, `label` and `matrix` in a path: `parameter-style.spec.ts` has
 * them.
 */
const STYLES = stylesDocument();

function stylesDocument(): { readonly paths: Record<string, object> } & Record<string, unknown> {
  const items = { type: 'integer', minimum: 1, maximum: 99 };
  const schemas = {
    plain: items,
    list: { type: 'array', items, minItems: 2, maxItems: 4 },
    object: { type: 'object', properties: { r: items, g: items }, required: ['r', 'g'], additionalProperties: false },
  };
  const all = [['plain', 'list', 'object'] as const, [true, false]] as const;
  // OpenAPI defines only one form each of the last two.
  const written = [
    ['path', 'simple', ['plain'], [true, false]],
    ['header', 'simple', ...all],
    ['query', 'form', ...all],
    ['cookie', 'form', ...all],
    ['query', 'pipeDelimited', ['list'], [false]],
    ['query', 'deepObject', ['object'], [true]],
  ] as const;
  const responses = { 200: { description: 'Done' } };
  const paths: Record<string, object> = {};
  for (const [place, style, forms, explodes] of written)
    for (const form of forms)
      for (const explode of explodes) {
        const operationId = [place, style, form, explode ? 'exploded' : 'joined'].join('_');
        const schema = schemas[form];
        const parameter = { name: place === 'header' ? 'x-value' : 'value', in: place, required: true, style, explode, schema };
        const path = place === 'path' ? `/${operationId}/{value}/end` : `/${operationId}`;
        paths[path] = { get: { operationId, parameters: [parameter], responses } };
      }
  const { properties } = schemas.object;
  const upload = {
    type: 'object',
    properties: { ...properties, file: { type: 'string', format: 'binary' } },
    required: ['r', 'g', 'file'],
  };
  const bodies: Record<string, object> = {
    'application/json': schemas.object,
    'application/x-www-form-urlencoded': schemas.object,
    'multipart/form-data': upload,
    'text/plain': { type: 'string', minLength: 1 },
    'application/octet-stream': { type: 'string', format: 'binary' },
  };
  for (const [mediaType, schema] of Object.entries(bodies)) {
    const operationId = `body_${mediaType.replace(/[^a-z]/g, '_')}`;
    paths[`/${operationId}`] = { post: { operationId, requestBody: { required: true, content: { [mediaType]: { schema } } }, responses } };
  }
  return { openapi: '3.0.3', info: { title: 'Styles', version: '1' }, paths };
}
