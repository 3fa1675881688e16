import { ulid } from 'ulidx';
import { sha256Hex } from '#redis';

/** Owner of attempts: workers of one source with one key may continue each other's calls. */
export interface Claimant {
  readonly tenantId: string;
  readonly source: string;
  readonly keyId: string;
}

/** Beginning of the claim tokens of a worker's attempts, by which any gateway knows their owner. */
export function claimPrefix({ tenantId, source, keyId }: Claimant): string {
  return `w.${sha256Hex(`${tenantId}/${source}/${keyId}`).slice(0, 32)}.`;
}

export function claimToken(claimant: Claimant): string {
  return `${claimPrefix(claimant)}${ulid()}`;
}
