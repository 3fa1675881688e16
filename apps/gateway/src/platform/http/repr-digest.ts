import { ProblemError } from '#contracts';

/** @throws ProblemError `invalid_request` if the header Repr-Digest (RFC 9530) has another SHA-256 than the body */
export function checkReprDigest(header: string | undefined, sha256: string): void {
  const [, base64] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):/i.exec(header ?? '') ?? [];
  const received = base64 === undefined ? sha256 : Buffer.from(base64, 'base64').toString('hex');
  if (received !== sha256)
    throw new ProblemError('invalid_request', `Repr-Digest: expected the SHA-256 of the body, ${sha256}; got ${received}`);
}
