import { z } from 'zod';
import { SourceDefinition } from '#contracts';

export const FORM_KINDS = [
  { value: 'mcp', label: 'MCP server' },
  { value: 'bundle', label: 'MCP bundle' },
  { value: 'openapi', label: 'OpenAPI' },
  { value: 'agent', label: 'Sub-agent' },
  { value: 'json', label: 'As JSON' },
] as const;
export const FormKind = z.enum(['mcp', 'bundle', 'openapi', 'agent', 'json']);
export type FormKind = z.output<typeof FormKind>;

/** A source while it is filled in; each field as its input has it. */
export interface SourceDraft {
  readonly name: string;
  /** Address of the MCP server, or of the model's API. */
  readonly url: string;
  readonly document: string;
  /** Base URL of the API, if the document contains another one. */
  readonly baseUrl: string;
  readonly headers: string;
  /** How the MCP server is authorized: `none`, `oauth` for client credentials, or `person` for an authorization by one. */
  readonly auth: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Name of the variable that holds the secret of the client. */
  readonly clientSecret: string;
  readonly scopes: string;
  readonly include: string;
  readonly exclude: string;
  /** Description of the sub-agent. */
  readonly description: string;
  readonly provider: string;
  readonly model: string;
  /** Name of the variable that holds the key of the model's API. */
  readonly apiKey: string;
  readonly system: string;
  readonly tools: string;
  readonly json: string;
}

export const EMPTY_DRAFT: SourceDraft = {
  name: '',
  url: '',
  document: '',
  baseUrl: '',
  headers: '',
  auth: 'none',
  issuer: '',
  clientId: '',
  clientSecret: '',
  scopes: '',
  include: '',
  exclude: '',
  description: '',
  provider: 'openai-compatible',
  model: '',
  apiKey: '',
  system: '',
  tools: '',
  json: '{\n  "name": "",\n  "kind": "mcp",\n  "url": ""\n}',
};

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** Definition in the form of the API, or its faults by field. */
export function definitionOf(
  kind: Exclude<FormKind, 'bundle'>,
  draft: SourceDraft,
): { definition: SourceDefinition } | { faults: FieldFault[] } {
  const given = kind === 'json' ? parsed(draft.json) : kind === 'agent' ? agentOf(draft) : fieldsOf(kind, draft);
  if (given === undefined) return { faults: [{ field: 'json', message: 'This is not JSON yet' }] };
  const read = SourceDefinition.safeParse(given);
  if (read.success) return { definition: read.data };
  return {
    faults: read.error.issues.map(({ path, message }) => ({
      field: path.slice(0, path[0] === 'model' || path[0] === 'auth' ? 2 : 1).join('.'),
      message,
    })),
  };
}

function agentOf({ name, description, provider, model, url, apiKey, system, tools }: SourceDraft): object {
  return {
    name: name.trim(),
    kind: 'agent',
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    model: { provider, name: model.trim(), url: url.trim(), ...(apiKey.trim() === '' ? {} : { apiKey: secretOf(apiKey) }) },
    system,
    tools: wordsOf(tools),
  };
}

function fieldsOf(kind: 'mcp' | 'openapi', draft: SourceDraft): object {
  const { name, url, document, baseUrl } = draft;
  const headers = headersOf(draft.headers);
  const lists = { include: wordsOf(draft.include), exclude: wordsOf(draft.exclude) };
  const shared = {
    name: name.trim(),
    kind,
    headers,
    ...(lists.include.length === 0 ? {} : { include: lists.include }),
    ...(lists.exclude.length === 0 ? {} : { exclude: lists.exclude }),
  };
  if (kind === 'mcp') return { ...shared, url: url.trim(), ...(draft.auth === 'none' ? {} : { auth: authOf(draft) }) };
  return { ...shared, document: document.trim(), ...(baseUrl.trim() === '' ? {} : { url: baseUrl.trim() }) };
}

function authOf({ auth, issuer, clientId, clientSecret, scopes }: SourceDraft): object {
  const words = wordsOf(scopes);
  if (auth === 'person')
    return {
      type: 'authorizationCode',
      ...(issuer.trim() === '' ? {} : { issuer: issuer.trim() }),
      ...(clientId.trim() === '' ? {} : { clientId: clientId.trim() }),
      ...(clientSecret.trim() === '' ? {} : { clientSecret: secretOf(clientSecret) }),
      ...(words.length === 0 ? {} : { scopes: words }),
    };
  return {
    type: 'clientCredentials',
    issuer: issuer.trim(),
    clientId: clientId.trim(),
    clientSecret: secretOf(clientSecret),
    ...(words.length === 0 ? {} : { scopes: words }),
  };
}

/** `NAME` or `$NAME`, a variable of the workers. */
function secretOf(text: string): { readonly secretEnv: string } {
  return { secretEnv: text.trim().replace(/^\$/, '') };
}

/** Lines `Name: value`; a value `$NAME` is a secret of the workers. Undefined without any. */
function headersOf(text: string): Record<string, string | { readonly secretEnv: string }> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      const [name, value] = at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      return [name, value.startsWith('$') ? { secretEnv: value.slice(1) } : value];
    }),
  );
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
