import type { PolicyConfig, SessionGrants } from '#contracts';
import type { ToolFacts } from '../call-facts.js';
import { forbiddingPattern, matchingPattern, speakersOf } from '../patterns/tool-pattern.js';

export interface Availability {
  readonly ok: boolean;
  /** Reason for unavailability, for the catalog and the model. */
  readonly reason?: string;
}

const AVAILABLE: Availability = { ok: true };

/**
 * Availability of a tool for an agent: `exclude` beats `include` beats `tools`; web tools need `webTools`, tools of a feature
 * its name in `features`; tools denied for the session are unavailable. Shown in the catalog and enforced for each call.
 */
export function availability(tool: ToolFacts, policy: PolicyConfig, grants?: SessionGrants): Availability {
  const excluded = forbiddingPattern(policy.exclude, tool);
  if (excluded !== undefined) return unavailable(`${tool.name} is excluded from this agent's tools by ${written(excluded, tool)}`);
  if (!policy.webTools && isOfTheWeb(tool)) return unavailable(`${tool.name} is not available: tools of the web are switched off`);
  if (tool.feature !== undefined && !policy.features.includes(tool.feature))
    return unavailable(`${tool.name} is not available: policy.features does not name ${tool.feature}`);
  const listed = matchingPattern(policy.include, tool) ?? matchingPattern(policy.tools, tool);
  if (listed === undefined) return unavailable(`${tool.name} is not among this agent's tools (${summary(policy.tools)})`);
  if (grants !== undefined && forbiddingPattern(grants.deniedTools, tool) !== undefined)
    return unavailable(`${tool.name}: Tool was denied by user`);
  return AVAILABLE;
}

/** A built-in tool of the pool `net` reaches the web also where no argument is a URL: a search. */
function isOfTheWeb({ source, pool, subjects }: ToolFacts): boolean {
  return subjects.some(({ kind }) => kind === 'url') || (source === 'builtin' && pool === 'net');
}

function written(pattern: string, tool: ToolFacts): string {
  const speakers = speakersOf(pattern, tool);
  return `"${pattern}"${speakers.length === 0 ? '' : `, its name in ${speakers.join(', ')}`}`;
}

function unavailable(reason: string): Availability {
  return { ok: false, reason };
}

function summary(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'none';
  return patterns.length > 10 ? `${patterns.slice(0, 10).join(', ')} and ${patterns.length - 10} more` : patterns.join(', ');
}
