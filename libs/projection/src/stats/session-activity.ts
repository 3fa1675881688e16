import type { SessionActivity } from '#history';

export function encodeSession({ calls, open, failed, firstAt, lastAt, agentId = '' }: SessionActivity): string {
  return `${calls} ${open} ${failed} ${firstAt} ${lastAt} ${agentId}`;
}

/** The inverse of `encodeSession`. A label has no spaces. */
export function decodeSession(text: string): SessionActivity {
  const [calls, open, failed, firstAt, lastAt, agentId = ''] = text.split(' ');
  return {
    calls: Number(calls),
    open: Number(open),
    failed: Number(failed),
    firstAt: Number(firstAt),
    lastAt: Number(lastAt),
    agentId: agentId === '' ? undefined : agentId,
  };
}
