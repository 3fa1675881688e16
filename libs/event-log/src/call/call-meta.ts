import { LRUCache } from 'lru-cache';
import type { CallMeta } from '../event-log.port.js';
import { parseTrustedJson } from './trusted-json.js';

/** Fixed facts of a call as the snapshot and every event contain them: JSON members without braces. */
export function metaText(meta: CallMeta): string {
  const members = [`"tenantid":${JSON.stringify(meta.tenantId)}`, `"tool":${JSON.stringify(meta.tool)}`];
  if (meta.agentId !== undefined) members.push(`"agentid":${JSON.stringify(meta.agentId)}`);
  if (meta.sessionId !== undefined) members.push(`"sessionid":${JSON.stringify(meta.sessionId)}`);
  if (meta.traceparent !== undefined) members.push(`"traceparent":${JSON.stringify(meta.traceparent)}`);
  if (meta.parentCallId !== undefined) members.push(`"parentcallid":${JSON.stringify(meta.parentCallId)}`);
  return members.join(',');
}

interface StoredMeta {
  readonly tenantid: string;
  readonly tool: string;
  readonly agentid?: string;
  readonly sessionid?: string;
  readonly traceparent?: string;
  readonly parentcallid?: string;
}

const META_CACHE_SIZE = 2048;
const metaCache = new LRUCache<string, CallMeta>({ max: META_CACHE_SIZE });

/** Inverse of `metaText`. */
export function parseMeta(text: string): CallMeta {
  const cached = metaCache.get(text);
  if (cached !== undefined) return cached;
  const wire = parseTrustedJson<StoredMeta>(`{${text}}`);
  const meta: CallMeta = {
    tenantId: wire.tenantid,
    tool: wire.tool,
    ...(wire.agentid === undefined ? {} : { agentId: wire.agentid }),
    ...(wire.sessionid === undefined ? {} : { sessionId: wire.sessionid }),
    ...(wire.traceparent === undefined ? {} : { traceparent: wire.traceparent }),
    ...(wire.parentcallid === undefined ? {} : { parentCallId: wire.parentcallid }),
  };
  metaCache.set(text, meta);
  return meta;
}
