import type { PolicyConfig, PolicySettings, ToolSettings, ToolTier } from '#contracts';
import type { ToolFacts } from '../call-facts.js';
import { forbiddingPattern, matchesTool } from '../patterns/tool-pattern.js';

const NONE: ToolSettings = {};

/**
 * Settings of a tool; of several matching patterns each later one lies on top. Forbidding settings also apply to tools that are
 * forbidden together with the named one.
 */
export function settingsOf(tool: Pick<ToolFacts, 'name' | 'aliases' | 'source' | 'pool'>, { toolsSettings }: PolicyConfig): ToolSettings {
  let found = NONE;
  for (const pattern in toolsSettings) {
    const settings = toolsSettings[pattern];
    if (settings === undefined) continue;
    if (matchesTool(pattern, tool)) found = layered(found, settings);
    else if (forbiddingPattern([pattern], tool) !== undefined) found = layered(found, forbidding(settings));
  }
  return found;
}

/** Tier of the tool for postures. */
export function tierOf(tool: ToolFacts, policy: PolicyConfig): ToolTier {
  return settingsOf(tool, policy).tier ?? tool.tier;
}

/** Settings of several files by tool, the later over the earlier. */
export function mergedToolsSettings(layers: readonly (PolicySettings['toolsSettings'] | undefined)[]): PolicyConfig['toolsSettings'] {
  const all = new Map<string, ToolSettings>();
  for (const [pattern, settings] of layers.flatMap((layer) => Object.entries(layer ?? {}))) {
    const before = all.get(pattern) ?? NONE;
    all.delete(pattern); // The last word also comes after what wider patterns said.
    all.set(pattern, layered(before, settings));
  }
  return Object.fromEntries(all);
}

function forbidding({ deniedServices, availableAgents, autoAllowReadonly, tier }: ToolSettings): ToolSettings {
  return {
    ...(deniedServices && { deniedServices }),
    ...(availableAgents && { availableAgents }),
    ...(autoAllowReadonly === false && { autoAllowReadonly }),
    ...(tier === 'privileged' && { tier }),
  };
}

/** Combines forbidding lists, and replaces all other fields. */
function layered(lower: ToolSettings, upper: ToolSettings): ToolSettings {
  const denied = [...new Set([...(lower.deniedServices ?? []), ...(upper.deniedServices ?? [])])];
  return { ...lower, ...upper, ...(denied.length === 0 ? {} : { deniedServices: denied }) };
}
