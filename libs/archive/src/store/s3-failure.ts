import { S3ServiceException } from '@aws-sdk/client-s3';

/**
 * Failed request to S3. Has no `cause`: the client's own error contains the request with its signature and, for temporary
 * credentials, a token.
 */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';

  constructor(label: string, what: string, error: unknown) {
    super(`${label}: could not ${what}: ${reasonOf(error)}`);
  }
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof S3ServiceException ? error.name : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error instanceof S3ServiceException) return `${error.name} (${error.$metadata.httpStatusCode ?? 'no status'})`;
  if (error.name === 'CredentialsProviderError')
    return 'no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role.';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'the store did not answer in time';
  return 'code' in error && error.message === '' ? String(error.code) : error.message;
}
