import { mkdirSync } from 'node:fs';
import {
  Client,
  ProtocolError,
  SdkHttpError,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Transport,
} from '@modelcontextprotocol/client';
import type { AgentModel, McpBundle, McpSourceDefinition, Pool, StoredSource } from '#contracts';
import { EgressPolicy, egressFetch, giveFolder, type ProcessCommand, type Sandbox, type WorkspaceQuotas } from '#sandbox';
import { AddressFault, namedFetch } from '../address-fault.js';
import { resolveSecrets } from '../definitions/resolve-secrets.js';
import { issuerUrls } from '../definitions/issuer-urls.js';
import { networkFault } from '../definitions/network-fault.js';
import { programWords } from '../definitions/program-words.js';
import { poolOf } from '../definitions/pool-of.js';
import { sourcePolicy } from '../definitions/source-policy.js';
import { authorizedFetch, type Tokens } from '../oauth/authorized-fetch.js';
import type { AuthorizationStore } from '../oauth/authorization-store.js';
import { authorizedSource } from '../oauth/authorized-source.js';
import { GrantedTokens } from '../oauth/granted-tokens.js';
import { ServerTokens, type ServerTokensParts } from '../oauth/server-tokens.js';
import type { SourceConnection, SourceConnector } from '../source-connector.port.js';
import { withoutSecrets } from '../definitions/without-secrets.js';
import { sourceKey } from '../source-id.js';
import { AnswerReader } from './answers/answer-reader.js';
import { boundedFetch } from './bounded-fetch.js';
import { assertConfigOfKey, bundleCommand, isSecretRef, type BundleCommand, type ConfigValue } from './bundle/bundle-manifest.js';
import { installBundle } from './bundle/install-bundle.js';
import type { UploadedBundles } from './bundle/uploaded-bundles.js';
import { removeUnused, useBundle } from './bundle/used-bundles.js';
import { FailurePauses, MessageBudget } from '#timing';
import { meteredFetch } from '../flood/meter-stream.js';
import { HttpTransport } from './http-transport.js';
import { McpConnection } from './mcp-connection.js';
import { OwnSampling, type SamplingModel } from './questions/own-sampling.js';
import { CONNECTION_CAPABILITIES } from './questions/client-capabilities.js';
import { openFault } from './open-fault.js';
import { answerOf, type Asked, type Given } from './questions/question.js';
import { samplingResult } from './questions/sampling.js';
import { SseTransport } from './sse-transport.js';
import { bundlesOf, deleteWorkspace, programQuota, quotaOf, sharedBundlesOf, watchDisk, workspaceOf } from './source-disk.js';
import { StdioTransport } from './stdio-transport.js';

const PROBE_MS = 5_000;
/** Of a server that was stopped for sending too much. */
const FLOOD_PAUSES = { firstMs: 2_000, maxMs: 60_000, jitter: true };
/** Statuses with which a server of HTTP with SSE answers a POST to the address of its event stream. */
const SSE_STATUSES = new Set([400, 404, 405]);
const VERSION = '1.0.0';
const SERVER_CPU_SECONDS = 30 * 86_400;
const MEASURE_MS = 60_000;
const FULL_DISK =
  'its folder has more than one program may have on this worker (WORKSPACE_QUOTA_BYTES, WORKSPACE_QUOTA_FILES): remove the source and add it again, which deletes the folder';

/** None: outputs of tools are checked by those who call them, and a question is no output. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without a validator the client checks nothing
    return undefined as unknown as JsonSchemaValidator<T>;
  },
};

export interface McpConnectorOptions {
  readonly sandboxOf: (pool: Pool) => Sandbox;
  /** Egress policy; for sources of the config file the host in their definition is added. */
  readonly egress: EgressPolicy;
  /** Environment with the secrets by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Environment of programs besides their own variables. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** True if a call has ended: the wait of a server for an answer to it is then ended. */
  readonly isOver: (callId: string) => Promise<boolean>;
  /** Opens a model of the operator, for servers that ask for one. @throws Error in words for the operator */
  readonly modelOf: (settings: AgentModel) => SamplingModel & { close(): Promise<void> };
  readonly uploaded: Pick<UploadedBundles, 'keep' | 'read'>;
  /** Store for sources that people authorize. */
  readonly authorizations?: AuthorizationStore;
  /** Each program gets a folder of its own below it, in that of its tenant. */
  readonly folder: string;
  /** Limit what the bundles and the programs of a tenant take of the disk. Default: no limit. */
  readonly quotas?: Pick<WorkspaceQuotas, 'of'>;
  /** Interval at which the folder of a running program is measured. Default: a minute. */
  readonly measureMs?: number;
}

/** An open way to a server: the transport, and what belongs to it. */
interface Way {
  readonly transport: Transport;
  readonly answers: AnswerReader;
  /** Tokens that are issued later are added. */
  readonly secrets: readonly string[];
  /** The server is there for all workers. */
  readonly shared: boolean;
  readonly whyClosed: () => string;
  /** CPU time of the program; absent for servers without one. */
  readonly takeCpuMs?: () => number | undefined;
  /** Registers a listener for the loss of the session; absent for transports without sessions. */
  readonly onSessionGone?: (listener: () => void) => void;
  readonly close: () => Promise<void>;
}

/** Program to start. */
interface Program extends BundleCommand {
  /** Releases its bundle. Idempotent. */
  readonly release: () => void;
}

/** MCP servers, over stdio in the sandbox or over Streamable HTTP. Both eras of the protocol: the newer one is tried first. */
export class McpConnector implements SourceConnector {
  private readonly floods = new FailurePauses(FLOOD_PAUSES);

  constructor(private readonly options: McpConnectorOptions) {}

  async open(source: StoredSource, signal: AbortSignal): Promise<SourceConnection> {
    const { definition } = source;
    if (definition.kind !== 'mcp') throw new Error('expected a source of the kind mcp');
    // Errors before there is a server, such as a failed fetch of a bundle, are not retried here.
    const way = await this.wayTo(source, definition, signal);
    try {
      return await this.connect(way, definition, 'auto', signal);
    } catch (error) {
      // Older servers answer a request that they do not know in any way, or end at it.
      if (signal.aborted || isUnauthorized(error)) throw error;
      return this.openOlder(source, definition, signal);
    }
  }

  async removed(source: StoredSource): Promise<void> {
    await deleteWorkspace(workspaceOf(this.options, source));
  }

  /**
   * Tries again with a revision that the server names where it refuses the newest, and with the transport of revision
   * 2024-11-05 where it refuses `initialize` as the wrong request for the address.
   */
  private async openOlder(source: StoredSource, definition: McpSourceDefinition, signal: AbortSignal): Promise<SourceConnection> {
    try {
      return await this.connect(await this.wayTo(source, definition, signal), definition, 'legacy', signal);
    } catch (error) {
      const versions = versionsIn(error);
      const isSse = SSE_STATUSES.has(httpStatusOf(error) ?? 0);
      if (signal.aborted || (versions.length === 0 && !isSse)) throw error;
      try {
        const way = await this.wayTo(source, definition, signal, versions.length === 0);
        return await this.connect(way, definition, 'legacy', signal, versions);
      } catch {
        throw error;
      }
    }
  }

  private async wayTo(source: StoredSource, definition: McpSourceDefinition, signal: AbortSignal, sse = false): Promise<Way> {
    const key = sourceKey({ tenantId: source.tenantId, name: definition.name });
    const pauseMs = this.floods.leftMs(key);
    if (pauseMs > 0) throw new Error(`the server sent too many messages; it is connected again in ${Math.ceil(pauseMs / 1_000)} s`);
    const budget = new MessageBudget();
    const way = await (definition.url === undefined
      ? this.stdio(source, definition, budget, signal)
      : this.http(source, definition, budget, sse));
    budget.onExceeded = () => {
      this.floods.begin(key);
      void way.transport.close().catch(() => undefined);
    };
    return { ...way, whyClosed: () => budget.exceeded ?? way.whyClosed() };
  }

  private async connect(
    way: Way,
    definition: McpSourceDefinition,
    mode: 'auto' | 'legacy',
    signal: AbortSignal,
    versions: string[] = [],
  ): Promise<SourceConnection> {
    const server = { notify: () => {}, ask: (_asked: Asked): Promise<Given> => Promise.resolve({ refused: 'no call is under way' }) };
    const client = new Client(
      { name: 'toolyard', version: VERSION },
      {
        capabilities: CONNECTION_CAPABILITIES,
        ...(versions.length === 0 ? {} : { supportedProtocolVersions: versions }),
        versionNegotiation: { mode, probe: { timeoutMs: PROBE_MS } },
        // Results are checked with the schemas in the catalog; this engine has no bound for hostile ones.
        jsonSchemaValidator: UNCHECKED,
        // `ListPages` ends a list without an end, and keeps what came.
        listMaxPages: 0,
        listChanged: { tools: { autoRefresh: false, debounceMs: 50, onChanged: () => server.notify() } },
      },
    );
    client.setRequestHandler('elicitation/create', async ({ method, params }) => answerOf(params, await server.ask({ method, params })));
    client.setRequestHandler('sampling/createMessage', async ({ method, params }) => samplingResult(await server.ask({ method, params })));
    try {
      await client.connect(way.transport, { signal });
    } catch (error) {
      const why = way.whyClosed();
      await way.close();
      const fault = openFault(error, definition);
      if (fault !== undefined) throw new AddressFault(withoutSecrets(fault, way.secrets), { cause: error });
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(withoutSecrets(why === '' ? message : `${message}; ${why}`, way.secrets), { cause: error });
    }
    const { name, sampling } = definition;
    const model = sampling && this.options.modelOf(sampling.model);
    const close = async () => {
      await client.close().catch(() => undefined);
      await way.close();
      await model?.close();
    };
    const connection = new McpConnection({
      source: name,
      client,
      own: sampling && model && new OwnSampling(name, sampling, model),
      answers: way.answers,
      secrets: way.secrets,
      isOver: this.options.isOver,
      tasksOutlive: way.shared,
      takeCpuMs: way.takeCpuMs,
      whyClosed: () => way.whyClosed() || 'the connection was closed',
      close,
    });
    server.notify = () => connection.listChanged();
    way.onSessionGone?.(() => connection.sessionGone());
    server.ask = (asked) => connection.asks(asked);
    return connection;
  }

  private async http(
    source: StoredSource,
    { url = '', headers = {}, auth, egress: hosts }: McpSourceDefinition,
    budget: MessageBudget,
    sse: boolean,
  ): Promise<Way> {
    const { egress, env } = this.options;
    const policy = sourcePolicy(egress, { origin: source.origin, urls: [url, ...issuerUrls(auth)], egress: hosts });
    const resolved = resolveSecrets(headers, env);
    const guarded = meteredFetch(namedFetch(egressFetch(policy)), budget);
    const secrets = secretsOf(headers, resolved);
    const answers = new AnswerReader(budget);
    const fetch = sse ? guarded.fetch : boundedFetch(guarded, answers);
    const tokens = this.tokensOf(source, { env, guarded, secrets });
    try {
      // Requested before the probe of the server's era, which waits for an answer for a short time only.
      await tokens?.token();
    } catch (error) {
      await guarded.close();
      throw error;
    }
    const options = {
      fetch: tokens === undefined ? fetch : authorizedFetch(fetch, url, tokens),
      requestInit: { headers: resolved },
      redirectPolicy: 'same-origin' as const,
    };
    const transport = sse ? new SseTransport(new URL(url), options, answers) : new HttpTransport(new URL(url), options, answers);
    const onSessionGone = (listener: () => void) => void (transport.onsessiongone = listener);
    const close = () => transport.close().finally(() => guarded.close());
    // Tasks of a server of HTTP with SSE end with its stream.
    return { transport, answers, onSessionGone, shared: !sse, secrets, whyClosed: () => '', close };
  }

  private tokensOf(source: StoredSource, parts: Pick<ServerTokensParts, 'env' | 'guarded' | 'secrets'>): Tokens | undefined {
    const { definition, tenantId } = source;
    if (definition.kind !== 'mcp' || definition.url === undefined) return undefined;
    const { url, auth } = definition;
    if (auth?.type === 'clientCredentials') return new ServerTokens({ url, auth, ...parts });
    const authorized = authorizedSource(source);
    const { authorizations: store } = this.options;
    if (authorized === undefined || store === undefined) return undefined;
    return new GrantedTokens({ id: { tenantId, name: definition.name }, source: authorized, store, ...parts });
  }

  private async stdio(source: StoredSource, definition: McpSourceDefinition, budget: MessageBudget, signal: AbortSignal): Promise<Way> {
    const { sandboxOf, env, toolEnv, measureMs = MEASURE_MS } = this.options;
    const sandbox = sandboxOf(poolOf(definition));
    const fault = await networkFault(sandbox, definition.network);
    if (fault !== undefined) throw new Error(`commands do not run on this worker: ${fault}`);
    const workspace = workspaceOf(this.options, source);
    const isNew = mkdirSync(workspace, { recursive: true, mode: 0o700 }) !== undefined;
    const quota = programQuota(this.options, source, workspace);
    if (!isNew && quota !== undefined && (await quota.measure(0)).failure !== undefined) throw new Error(FULL_DISK);
    await giveFolder(workspace, sandbox.userOf(source.tenantId));
    const resolved = resolveSecrets(definition.env ?? {}, env);
    const program = await this.programOf(source, definition, workspace, signal);
    const paths = [...(definition.paths ?? []), ...program.paths];
    const view = {
      visible: paths.map((path) => ({ path, access: 'read' as const })),
      hidden: [],
      readOnly: [],
      network: definition.network,
    };
    const wrapped = sandbox.wrap(
      { ...programWords(program.words), cwd: workspace, env: { ...toolEnv, HOME: workspace, ...program.env, ...resolved } },
      workspace,
      view,
    );
    const transport = new StdioTransport(withoutCpuLimit(wrapped), budget);
    const secrets = [...program.secrets, ...secretsOf(definition.env ?? {}, resolved)];
    let full: string | undefined;
    const stop = () => {
      full = FULL_DISK;
      void transport.close().catch(() => undefined);
    };
    const unwatch = quota === undefined ? () => {} : watchDisk(quota, measureMs, stop);
    const whyClosed = () => {
      if (full !== undefined) return full;
      const words = [transport.ended, transport.lastWords, transport.silence].filter((it) => it !== undefined && it !== '');
      return withoutSecrets(words.join(': '), secrets).slice(-500);
    };
    const close = () => {
      unwatch();
      return transport.close().finally(program.release);
    };
    return { transport, answers: transport.answers, shared: false, secrets, whyClosed, takeCpuMs: () => transport.takeCpuMs(), close };
  }

  private async programOf(
    source: StoredSource,
    { command = [], bundle }: McpSourceDefinition,
    home: string,
    signal: AbortSignal,
  ): Promise<Program> {
    if (bundle === undefined) return { words: command, env: {}, paths: [], secrets: [], release: () => {} };
    const root = bundlesOf(this.options, source);
    const release = await useBundle(root, bundle.sha256);
    try {
      return { ...(await this.bundled(source, bundle, home, signal)), release };
    } catch (error) {
      release();
      throw error;
    } finally {
      // Includes bundles of earlier releases, which all tenants shared.
      for (const folder of [root, sharedBundlesOf(this.options)]) void removeUnused(folder).catch(() => undefined);
    }
  }

  private async bundled(source: StoredSource, bundle: McpBundle, home: string, signal: AbortSignal): Promise<BundleCommand> {
    const { egress, env, uploaded } = this.options;
    const { tenantId, origin } = source;
    const policy =
      origin === 'config' && bundle.url !== undefined ? new EgressPolicy([...egress.allowHosts, new URL(bundle.url).host]) : egress;
    // Marked as used before it is read, since unused bundles expire.
    if (bundle.url === undefined && bundle.path === undefined) await uploaded.keep({ tenantId, sha256: bundle.sha256 });
    const root = bundlesOf(this.options, source);
    const places = {
      egress: policy,
      uploaded: (sha256: string) => uploaded.read({ tenantId, sha256 }),
      quota: quotaOf(this.options, source, root),
    };
    const { folder, manifest } = await installBundle(bundle, root, places, signal);
    if (origin !== 'config') assertConfigOfKey(manifest, bundle.config);
    const { values, secrets } = configOf(bundle, env);
    const program = bundleCommand(manifest, { folder, home }, values);
    return { ...program, paths: [folder, ...program.paths], secrets: [...program.secrets, ...secrets] };
  }
}

/** The settings of a bundle with the values of their secrets. */
function configOf(
  { config = {} }: McpBundle,
  env: McpConnectorOptions['env'],
): { readonly values: Record<string, ConfigValue>; readonly secrets: readonly string[] } {
  const named = Object.entries(config).flatMap(([name, value]) => (isSecretRef(value) ? [[name, value] as const] : []));
  const resolved = resolveSecrets(Object.fromEntries(named), env);
  const plain = Object.entries(config).flatMap(([name, value]) => (isSecretRef(value) ? [] : [[name, value] as const]));
  return { values: { ...Object.fromEntries(plain), ...resolved }, secrets: Object.values(resolved) };
}

/** The server asks for credentials, in whichever revision it is spoken to. */
function isUnauthorized(error: unknown): boolean {
  return httpStatusOf(error) === 401;
}

/** Older revisions in the error with which a server refuses the newest, although it should answer with one of its own. */
function versionsIn(error: unknown): string[] {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof ProtocolError || cause instanceof SdkHttpError)) return [];
  const text = JSON.stringify([cause.message, cause.data]);
  return /version/i.test(text) ? SUPPORTED_PROTOCOL_VERSIONS.slice(1).filter((version) => text.includes(version)) : [];
}

function httpStatusOf(error: unknown): number | undefined {
  return error instanceof Error && error.cause instanceof SdkHttpError ? error.cause.status : undefined;
}

/** A server runs for days: the processor time that one command may take is no measure for it. All other limits hold. */
function withoutCpuLimit(command: ProcessCommand): ProcessCommand {
  return command.limits === undefined ? command : { ...command, limits: { ...command.limits, cpuSeconds: SERVER_CPU_SECONDS } };
}

function secretsOf(values: NonNullable<McpSourceDefinition['headers']>, resolved: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (typeof value === 'string' ? [] : (resolved[name] ?? [])));
}
