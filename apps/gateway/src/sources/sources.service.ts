import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import {
  ALL_TENANTS,
  listedAgent,
  listedAgentText,
  ProblemError,
  type AcceptSourceBody,
  type AdminType,
  type AgentSourceDefinition,
  type McpBundle,
  type Principal,
  type Source,
  type SourceDefinition,
  type SourceSummary,
  type StoredSource,
  type ToolChange,
} from '#contracts';
import { EgressError, EgressPolicy } from '#sandbox';
import { definitionFault, isPending, issuerUrls, toolChanges, type PinnedSource } from '#sources';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { SourceConfigService } from '../governance/source-config.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { BundlesService } from './bundles.service.js';
import { SourceAuthorizations } from './source-authorizations.service.js';
import { SourceCatalog } from './source-catalog.service.js';
import { sourceOf, summaryOf, type KnownSource } from './source-views.js';

const MAX_SOURCES = 200;

/** Administration of a tenant's sources. Sources of the config file are changed there. */
@Injectable()
export class SourcesService {
  private readonly egress: EgressPolicy;

  constructor(
    private readonly catalog: SourceCatalog,
    private readonly settings: SourceConfigService,
    private readonly acts: AdminActs,
    private readonly redaction: RedactionConfigService,
    private readonly bundles: BundlesService,
    private readonly authorizations: SourceAuthorizations,
    @Inject(GATEWAY_CONFIG) config: Pick<GatewayConfig, 'egress'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.egress = config.egress ?? new EgressPolicy();
  }

  async list(principal: Principal): Promise<SourceSummary[]> {
    const known = await this.authorizations.withStates(principal, [...(await this.known(principal.tenantId)).values()]);
    return known.flatMap((it) => summaryOf(it) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async read(principal: Principal, name: string): Promise<Source> {
    const found = (await this.known(principal.tenantId)).get(name);
    const [known] = await this.authorizations.withStates(principal, found === undefined ? [] : [found]);
    const summary = known && summaryOf(known);
    if (known === undefined || summary === undefined) throw unknown(name);
    return sourceOf(known, summary, known.pinned === undefined ? new Map() : await this.changesOf(known.pinned));
  }

  /** @throws ProblemError `forbidden` for settings reserved to the operator, `conflict` for a name in use */
  async add(principal: Principal, definition: SourceDefinition): Promise<SourceSummary> {
    const { tenantId } = principal;
    const stored: StoredSource = { tenantId, origin: 'api', definition };
    const fault = definitionFault(stored, this.settings.rules);
    if (fault !== undefined) throw new ProblemError('forbidden', `The source is not allowed: ${fault}`);
    this.assertReachable(definition);
    const known = await this.known(tenantId);
    if (definition.kind === 'agent') assertListsNoAgent(definition, known);
    const before = known.get(definition.name);
    const origin = before?.stored?.origin ?? before?.pinned?.entry.origin ?? 'api';
    if (origin !== 'api')
      throw new ProblemError(
        'conflict',
        `The name ${definition.name} belongs to a source ${origin === 'config' ? 'of the config file' : 'that a worker announced'}: choose another one`,
      );
    if (before === undefined && known.size >= MAX_SOURCES)
      throw new ProblemError('conflict', `The tenant has ${MAX_SOURCES} sources already: remove one first`);
    const act = this.acts.admit(principal, { revokes: false });
    await this.bundles.use(principal, bundleOf(definition));
    const replaced = before?.stored;
    this.authorizations.forget(await this.catalog.store.putDefinition(stored));
    await this.releaseBundle(tenantId, replaced?.definition);
    this.log.warn({ source: definition.name, tenant: tenantId, key: principal.keyId }, 'a tool source was added');
    await this.record(act, 'admin.source_added', definition.name, replaced?.definition, definition);
    const [after] = await this.authorizations.withStates(principal, [{ stored, pinned: before?.pinned }]);
    return (after && summaryOf(after)) ?? unreachable();
  }

  async remove(principal: Principal, name: string): Promise<void> {
    const { tenantId } = principal;
    const stored = await this.catalog.store.definition({ tenantId, name });
    if (stored === undefined) {
      if ((await this.known(tenantId)).has(name))
        throw new ProblemError('conflict', `The source ${name} was not added over HTTP: remove it where it was defined`);
      return this.forget(principal, name);
    }
    if (stored.origin !== 'api') throw new ProblemError('conflict', `The source ${name} is in the config file: remove it there`);
    // Records the act before the removal: a repeated request would not find the source.
    await this.record(this.acts.admit(principal, { revokes: true }), 'admin.source_removed', name, stored.definition);
    this.authorizations.forget(await this.catalog.store.remove({ tenantId, name }));
    await this.releaseBundle(tenantId, stored.definition);
    this.log.warn({ source: name, tenant: tenantId, key: principal.keyId }, 'a tool source was removed');
  }

  /** Deletes the accepted tools of a source whose workers are gone. @throws ProblemError `resource_not_found` if none are stored */
  private async forget(principal: Principal, name: string): Promise<void> {
    const id = { tenantId: principal.tenantId, name };
    if (!(await this.catalog.store.hasPins(id))) throw unknown(name);
    await this.record(this.acts.admit(principal, { revokes: true }), 'admin.source_removed', name);
    this.authorizations.forget(await this.catalog.store.remove(id));
  }

  /**
   * Accepts all pending changes, or exactly the given digests. Changes of a source of all tenants need its operator: a key of
   * one tenant would decide for all.
   */
  async accept(principal: Principal, name: string, { tools }: AcceptSourceBody): Promise<Source> {
    const known = (await this.known(principal.tenantId)).get(name);
    if (known === undefined) throw unknown(name);
    const { pinned } = known;
    // No worker has seen its tools yet, so none is pending.
    if (pinned === undefined) return this.read(principal, name);
    const { entry } = pinned;
    if (entry.tenantId === ALL_TENANTS && !principal.scopes.includes('operate'))
      throw new ProblemError('forbidden', `The source ${name} belongs to all tenants: accepting its changes needs the scope operate too`);
    const wanted = tools && new Set(tools.map(({ rawName, digest }) => `${digest} ${rawName}`));
    const accepted = entry.tools.filter(
      ({ rawName, digest }, index) => isPending(pinned, index) && (wanted === undefined || wanted.has(`${digest} ${rawName}`)),
    );
    if (accepted.length > 0) {
      const act = this.acts.admit(principal, { revokes: false });
      await this.catalog.store.accept(entry, accepted);
      const names = accepted.map(({ descriptor }) => descriptor.name);
      this.log.warn(
        { source: name, tenant: entry.tenantId, key: principal.keyId, tools: names.slice(0, 100) },
        'changed tools were accepted',
      );
      const digests = accepted.map(({ rawName, digest }) => ({ tool: rawName, digest }));
      await this.record(act, 'admin.source_accepted', name, undefined, { tools: digests });
    }
    return this.read(principal, name);
  }

  private async record(act: AdmittedAct, type: AdminType, target: string, before?: object, after?: object): Promise<void> {
    const shown = (settings: object) => this.redaction.of(act.tenantId).withoutSecrets(settings);
    await act.record(type, { target, ...(before && { before: shown(before) }), ...(after && { after: shown(after) }) });
  }

  /** Releases the bundle of a definition that is no longer active. */
  private async releaseBundle(tenantId: string, definition: SourceDefinition | undefined): Promise<void> {
    const bundle = definition && bundleOf(definition);
    if (bundle === undefined) return;
    const left = (await this.catalog.store.definitions()).filter((it) => it.tenantId === tenantId);
    const others = left.flatMap((it) => bundleOf(it.definition) ?? []);
    await this.bundles.release(tenantId, bundle, others);
  }

  /** Definitions and catalog entries of the tenant, and of all tenants, by name. */
  private async known(tenantId: string): Promise<Map<string, KnownSource>> {
    const [definitions, entries] = await Promise.all([this.catalog.store.definitions(), this.catalog.visibleTo(tenantId)]);
    const known = new Map<string, KnownSource>();
    // Adds sources of all tenants last: a tenant cannot take their names.
    for (const owner of [tenantId, ALL_TENANTS]) {
      for (const stored of definitions) if (stored.tenantId === owner) known.set(stored.definition.name, { stored });
      for (const pinned of entries)
        if (pinned.entry.tenantId === owner) {
          const stored = known.get(pinned.entry.name)?.stored;
          known.set(pinned.entry.name, { pinned, ...(stored?.tenantId === owner ? { stored } : {}) });
        }
    }
    return known;
  }

  private async changesOf(pinned: PinnedSource): Promise<Map<string, ToolChange[]>> {
    const changes = new Map<string, ToolChange[]>();
    for (const [index, { rawName, descriptor }] of pinned.entry.tools.entries()) {
      if (!isPending(pinned, index)) continue;
      const before = await this.catalog.store.pinned(pinned.entry, rawName);
      changes.set(rawName, before === undefined ? [] : toolChanges(before.descriptor, descriptor));
    }
    return changes;
  }

  /** Checks the addresses of a definition. The worker checks each again, with all resolved addresses, when it connects. */
  private assertReachable(definition: SourceDefinition): void {
    const { url, document, auth, model } = { url: undefined, document: undefined, auth: undefined, model: undefined, ...definition };
    const urls = [url, document, ...issuerUrls(auth), model?.url];
    try {
      for (const url of urls) if (typeof url === 'string') this.egress.check(url);
    } catch (error) {
      if (error instanceof EgressError) throw new ProblemError('forbidden', error.message);
      throw error;
    }
  }
}

function bundleOf(definition: SourceDefinition): McpBundle | undefined {
  return definition.kind === 'mcp' ? definition.bundle : undefined;
}

/** Rejects an agent in the list of a sub-agent that may call none, as for the config file. */
function assertListsNoAgent(definition: AgentSourceDefinition, known: ReadonlyMap<string, KnownSource>): void {
  const agents = [...known].flatMap(([name, { stored, pinned }]) => {
    const kind = stored?.definition.kind ?? pinned?.entry.kind;
    return kind === 'agent' ? [name] : [];
  });
  const listed = listedAgent(definition, [...agents, definition.name]);
  if (listed === undefined) return;
  const message = listedAgentText(definition.name, listed.agent);
  throw new ProblemError('invalid_request', `The source is not valid: ${message}`, {
    errors: [{ pointer: `/tools/${listed.at}`, message }],
  });
}

function unknown(name: string): ProblemError {
  return new ProblemError('resource_not_found', `No source is called ${name}; GET /v1/sources lists those there are`);
}

function unreachable(): never {
  throw new Error('a stored source has a summary');
}
