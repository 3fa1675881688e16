import { ToolError } from '#tool-sdk';

export interface AwsOperation {
  readonly service_name: string;
  readonly operation_name: string;
  readonly region: string;
  readonly profile_name?: string | undefined;
  readonly positional_args?: readonly string[] | undefined;
  readonly parameters?: Readonly<Record<string, string | number | boolean | readonly (string | number)[]>> | undefined;
}

const WORD = /^[a-z0-9][a-z0-9-]*$/;
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Options that change the target of a request, its trust or its identity, so that the operation would not describe the call. */
const REFUSED = ['endpoint-url', 'no-verify-ssl', 'ca-bundle', 'no-sign-request', 'profile', 'region', 'debug'];
/** Services that read and write credentials. */
const REFUSED_SERVICES = new Set(['configure', 'login', 'logout', 'sso']);

/**
 * The arguments of the AWS CLI, in order: `--region r [--profile p] service operation positional… --name value…`.
 * @throws ToolError `invalid_arguments` where a value would be taken for an option, or for a global option that is refused
 */
export function awsArguments(operation: AwsOperation): string[] {
  const { service_name, operation_name, region, profile_name, positional_args = [], parameters = {} } = operation;
  for (const [name, value] of Object.entries({ service_name, operation_name }))
    if (!WORD.test(value)) throw refused(name, `expected lower-case letters, digits and "-", not beginning with "-"; got "${value}"`);
  if (REFUSED_SERVICES.has(service_name))
    throw refused('service_name', `${service_name} is about the credentials of the CLI and is not available`);
  for (const [name, value] of Object.entries({ region, profile_name: profile_name ?? 'none' }))
    if (value.startsWith('-')) throw refused(name, 'must not begin with "-"');
  const option = positional_args.find((it) => it.startsWith('-') && it !== '-');
  if (option !== undefined) throw refused('positional_args', `"${option}" would be an option: use parameters`);
  return [
    '--region',
    region,
    ...(profile_name === undefined ? [] : ['--profile', profile_name]),
    service_name,
    operation_name,
    ...positional_args,
    ...Object.entries(parameters).flatMap(([name, value]) => parameter(name, value)),
  ];
}

function parameter(name: string, value: string | number | boolean | readonly (string | number)[]): string[] {
  const option = kebabCase(name);
  if (!NAME.test(name)) throw refused('parameters', `"${name}" is no name of a parameter`);
  if (isRefused(value === false ? `no-${option}` : option)) throw refused('parameters', `--${option} is not available`);
  if (value === false) return [`--no-${option}`];
  if (value === '' || value === true) return [`--${option}`];
  const values = (Array.isArray(value) ? value : [value]).map(String);
  const leading = values.find((it) => it.startsWith('--'));
  if (leading !== undefined) throw refused('parameters', `the value "${leading}" of ${name} would be an option`);
  return [`--${option}`, ...values];
}

/** The CLI takes the beginning of an option for the option. */
function isRefused(option: string): boolean {
  return REFUSED.some((it) => it.startsWith(option));
}

/** `maxItems`, `MaxItems` and `max_items` are all `max-items`. */
function kebabCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

function refused(argument: string, message: string): ToolError {
  return new ToolError('invalid_arguments', `${argument}: ${message}`, { errors: [{ pointer: `/${argument}`, message }] });
}
