import type { SourceSummary } from '#contracts';
import type { Check } from './check.js';

/** Each source works, and no person has to do something about it. */
export function checkSources(sources: readonly SourceSummary[]): Check[] {
  return sources.map((source) => ({ what: `source ${source.name}`, ...verdictOf(source) }));
}

function verdictOf({
  name,
  status,
  tools,
  pending,
  error = 'its tools could not be read',
  authorization,
}: SourceSummary): Omit<Check, 'what'> {
  if (authorization?.state === 'needed')
    return { verdict: 'fail', found: authorization.reason ?? 'a person has to authorize it', fix: `toolyard sources authorize ${name}` };
  switch (status) {
    case 'ok':
      return { verdict: 'ok', found: count(tools, 'tool') };
    case 'failed':
      return { verdict: 'fail', found: error, fix: `see \`toolyard sources list ${name}\`` };
    case 'stale':
      return {
        verdict: 'fail',
        found: `${error} Its last list of ${count(tools, 'tool')} is kept.`,
        fix: `see \`toolyard sources list ${name}\``,
      };
    case 'pending':
      return {
        verdict: 'warn',
        found: `${count(pending, 'changed tool')} ${pending === 1 ? 'is' : 'are'} unavailable`,
        fix: `look at them: toolyard sources accept ${name}`,
      };
    case 'connecting':
      return { verdict: 'warn', found: 'no worker has read its tools yet', fix: 'see that a worker runs its pool' };
  }
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
