import { Inject, Injectable } from '@nestjs/common';
import { ALL_TENANTS, type WorkerCall, type WorkerSourceDefinition } from '#contracts';
import { resolveSecrets } from '#sources';
import { ToolError, type ToolContext } from '#tool-sdk';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { workspacePath } from '../../platform/workspace-path.js';
import { SourceCatalog } from '../../sources/source-catalog.service.js';
import type { ConnectedWorker } from './connected-worker.js';

export type CallGrants = Pick<WorkerCall, 'secrets' | 'workspace'>;

/** Secrets and workspace that the operator grants to calls of a foreign worker. Read for each call, so that a change counts at once. */
@Injectable()
export class CallGrantsService {
  constructor(
    private readonly catalog: SourceCatalog,
    private readonly apiKeys: ApiKeyStore,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'env'>,
  ) {}

  /**
   * `tool`: as the worker announced it. The values of secrets are concealed in all that the call writes from now on.
   * @throws ToolError `unavailable` when a secret is not set in this process
   */
  async of(worker: ConnectedWorker, tool: string, context: ToolContext): Promise<CallGrants> {
    const { secrets = {}, workspaceRoot } = (await this.definitionFor(worker)) ?? {};
    return {
      ...(workspaceRoot === undefined ? {} : { workspace: workspacePath(workspaceRoot, context) }),
      ...this.secretsOf(worker, Object.hasOwn(secrets, tool) ? secrets[tool] : undefined, context),
    };
  }

  private secretsOf(
    worker: ConnectedWorker,
    named: NonNullable<WorkerSourceDefinition['secrets']>[string] | undefined,
    context: ToolContext,
  ) {
    if (named === undefined || this.apiKeys.current(worker.principal)?.workerSecrets !== true) return {};
    try {
      const secrets = resolveSecrets(named, this.config.env ?? {}, 'gateway');
      context.conceal(Object.values(secrets));
      return { secrets };
    } catch (error) {
      throw new ToolError('unavailable', error instanceof Error ? error.message : String(error), { retryable: true });
    }
  }

  /** Only the config file defines sources of this kind. */
  private async definitionFor({ tenantId, source: name }: ConnectedWorker): Promise<WorkerSourceDefinition | undefined> {
    const { store } = this.catalog;
    const stored = (await store.definition({ tenantId, name })) ?? (await store.definition({ tenantId: ALL_TENANTS, name }));
    return stored?.origin === 'config' && stored.definition.kind === 'worker' ? stored.definition : undefined;
  }
}
