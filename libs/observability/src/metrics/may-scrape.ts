import { createHash, timingSafeEqual } from 'node:crypto';

/** True if a request with this `Authorization` header may read the metrics: always without a key, else with it as bearer token. */
export function mayScrape(key: string | undefined, authorization: string | undefined): boolean {
  if (key === undefined) return true;
  const token = /^Bearer +(\S{1,8192}) *$/i.exec(authorization ?? '')?.[1];
  return token !== undefined && timingSafeEqual(digest(token), digest(key));
}

/** Digest for the comparison: equal lengths reveal nothing about the key. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
