import { ACCEPTED_AT, DIGEST, UNTIL } from './values.js';

const SOURCE = {
  name: 'tracker',
  kind: 'mcp',
  tenantId: 'default',
  origin: 'api',
  status: 'pending',
  tools: 1,
  pending: 1,
  updatedAt: ACCEPTED_AT,
};
const WHOLE_SOURCE = {
  ...SOURCE,
  definition: { name: 'tracker', kind: 'mcp', url: 'https://tools.example.com/mcp', trust: false, pin: true },
  list: [
    {
      name: 'tracker_search',
      rawName: 'search',
      digest: DIGEST,
      pending: true,
      changes: [{ field: 'description', before: 'Finds tickets.', after: 'Finds tickets and comments.' }],
    },
  ],
  problems: [],
};
const AUTHORIZED_SOURCE = {
  ...WHOLE_SOURCE,
  definition: { ...WHOLE_SOURCE.definition, auth: { type: 'authorizationCode' } },
  authorization: { state: 'granted', by: 'Ada Example <ada@example.com>', at: ACCEPTED_AT, scope: 'tickets.read' },
};

/** Answers of the operations on sources. */
export const SOURCE_ANSWERS: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  listSources: { 200: { sources: [SOURCE] } },
  uploadBundle: {
    201: {
      sha256: DIGEST,
      bytes: 4_096,
      name: 'greeter',
      version: '1.0.0',
      description: 'Greets.',
      settings: [{ name: 'token', type: 'string', title: 'Token', required: true, sensitive: true, multiple: false }],
    },
  },
  addSource: { 201: { ...SOURCE, status: 'connecting', tools: 0, pending: 0 } },
  getSource: { 200: WHOLE_SOURCE },
  beginSourceAuthorization: {
    200: {
      url: 'https://login.example.com/authorize?client_id=toolyard&response_type=code&state=f3b1Zk0mQ7w&code_challenge_method=S256',
      expiresAt: UNTIL,
      redirectUri: 'https://toolyard.example.com/authorized/4f1c2a9be07d3358',
    },
  },
  finishSourceAuthorization: { 200: AUTHORIZED_SOURCE },
  revokeSourceAuthorization: { 200: { atIssuer: true } },
  acceptSource: {
    200: { ...WHOLE_SOURCE, status: 'ok', pending: 0, list: [{ ...WHOLE_SOURCE.list[0], pending: false, changes: [] }] },
  },
};
