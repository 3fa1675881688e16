import type { S3ClientConfig } from '@aws-sdk/client-s3';

/**
 * Options besides the usual AWS variables and files, which the client reads itself. Other stores, given by an endpoint, have no
 * host name for each bucket, and rarely support regions or checksums in trailers.
 */
export function s3Options(env: NodeJS.ProcessEnv = process.env): S3ClientConfig {
  const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'];
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  return {
    ...(endpoint === undefined ? {} : { forcePathStyle: true, region: region ?? 'us-east-1' }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}
