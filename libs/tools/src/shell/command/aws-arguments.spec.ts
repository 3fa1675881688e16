import { describe, expect, it } from '@jest/globals';
import { awsArguments, type AwsOperation } from './aws-arguments.js';

const base = { service_name: 's3api', operation_name: 'list-buckets', region: 'eu-central-1' };
const args = (more: Partial<AwsOperation>) => awsArguments({ ...base, ...more }).join(' ');

describe('the arguments of the AWS CLI', () => {
  it('orders arguments of the AWS CLI: global options, service, operation, texts, and parameters in kebab-case', () => {
    expect(args({ parameters: { maxItems: 5 } })).toBe('--region eu-central-1 s3api list-buckets --max-items 5');
    expect(args({ profile_name: 'dev', positional_args: ['s3://b/k', '-'] })).toBe(
      '--region eu-central-1 --profile dev s3api list-buckets s3://b/k -',
    );
    expect(args({ parameters: { DBInstanceIdentifier: 'x', start_time: '2026', instanceIds: ['a', 'b'] } })).toContain(
      '--db-instance-identifier x --start-time 2026 --instance-ids a b',
    );
    expect(args({ parameters: { dryRun: '', recursive: true, paginate: false } })).toContain('--dry-run --recursive --no-paginate');
    expect(awsArguments({ ...base, parameters: { query: 'a; rm -rf $(x) `y`' } }).at(-1)).toBe('a; rm -rf $(x) `y`');
  });

  it.each([
    ['a service that is an option', { service_name: '--debug' }],
    ['a service about credentials', { service_name: 'configure', operation_name: 'get' }],
    ['an operation with a blank', { operation_name: 'list-buckets --profile x' }],
    ['a region that is an option', { region: '--no-verify-ssl' }],
    ['a profile that is an option', { profile_name: '-x' }],
    ['an option among the texts', { positional_args: ['--endpoint-url=http://evil'] }],
    ['another endpoint', { parameters: { endpointUrl: 'http://evil' } }],
    ['another endpoint, abbreviated', { parameters: { endpoint: 'http://evil' } }],
    ['requests that are not signed', { parameters: { signRequest: false } }],
    ['TLS that is not verified', { parameters: { 'no-verify-ssl': '' } }],
    ['a value that is an option', { parameters: { names: ['a', '--endpoint-url', 'http://evil'] } }],
    ['a name with a value in it', { parameters: { 'max-items=5 --x': 1 } }],
  ])('refuses arguments of the AWS CLI with %s', (_title, more: Partial<AwsOperation>) => {
    expect(() => args(more)).toThrow(expect.objectContaining({ code: 'invalid_arguments' }));
  });
});
