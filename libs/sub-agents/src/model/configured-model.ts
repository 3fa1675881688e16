import type { AgentModel } from '#contracts';
import { EgressPolicy, egressFetch } from '#sandbox';
import { AiSdkModel } from './ai-sdk.model.js';
import type { Model } from './model.port.js';

export interface ModelPlace {
  /** Environment with the API keys by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly egress: EgressPolicy;
}

/** Model in the config file, whose host may therefore be private. Must be closed. @throws Error with a text for the operator */
export function configuredModel(settings: AgentModel, { env, egress }: ModelPlace): Model & { close(): Promise<void> } {
  const guarded = egressFetch(new EgressPolicy([...egress.allowHosts, new URL(settings.url).host]));
  const model = new AiSdkModel(settings, env, guarded);
  return { ask: (request, options) => model.ask(request, options), close: () => guarded.close() };
}
