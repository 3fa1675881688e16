import type { PolicyConfig, PolicySettings, ToolSettings, ToolTier } from '#contracts';
import type { ToolFacts } from '../call-facts.js';
import { matchesTool } from '../patterns/tool-pattern.js';

const NONE: ToolSettings = {};

/** What the policy says about a tool; of several patterns that mean it each later one lies on top. */
export function settingsOf(tool: Pick<ToolFacts, 'name' | 'aliases' | 'source'>, { toolsSettings }: PolicyConfig): ToolSettings {
  let found = NONE;
  for (const pattern in toolsSettings) {
    const settings = toolsSettings[pattern];
    if (settings !== undefined && matchesTool(pattern, tool)) found = layered(found, settings);
  }
  return found;
}

/** What a posture takes the tool for. */
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

/** What forbids adds up, everything else is replaced. */
function layered(lower: ToolSettings, upper: ToolSettings): ToolSettings {
  const denied = [...new Set([...(lower.deniedServices ?? []), ...(upper.deniedServices ?? [])])];
  return { ...lower, ...upper, ...(denied.length === 0 ? {} : { deniedServices: denied }) };
}
