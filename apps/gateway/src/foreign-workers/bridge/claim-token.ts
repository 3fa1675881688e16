import { ulid } from 'ulidx';
import { sha256Hex } from '#redis';

/** Whose attempts they are: workers of one source with one key may go on with each other's calls. */
export interface Claimant {
  readonly tenantId: string;
  readonly source: string;
  readonly keyId: string;
}

/** What the claims of a worker's attempts begin with, so that any gateway can tell whose they are. */
export function claimPrefix({ tenantId, source, keyId }: Claimant): string {
  return `w.${sha256Hex(`${tenantId}/${source}/${keyId}`).slice(0, 32)}.`;
}

export function claimToken(claimant: Claimant): string {
  return `${claimPrefix(claimant)}${ulid()}`;
}
