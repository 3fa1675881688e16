import { readFileSync, statSync } from 'node:fs';
import { MIN_SECRET_CHARS, type SecretOrText, type SecretRef } from '#contracts';

const MAX_BYTES = 65_536;

type Environment = Readonly<Record<string, string | undefined>>;

/** Headers or variables with the values of their secrets. @throws what `resolveSecret` throws */
export function resolveSecrets(
  values: Readonly<Record<string, SecretOrText>>,
  env: Environment,
  process: 'worker' | 'gateway' = 'worker',
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : resolveSecret(value, env, process)]),
  );
}

/** Reads files again at each call. @throws Error that names the variable or file that is not set, too long or too short */
export function resolveSecret(ref: SecretRef, env: Environment, process: 'worker' | 'gateway' = 'worker'): string {
  const name = 'secretEnv' in ref ? ref.secretEnv : ref.secretFile;
  const value = 'secretEnv' in ref ? env[ref.secretEnv] : fileText(ref.secretFile, process);
  if (value === undefined || value === '')
    throw new Error(
      'secretEnv' in ref ? `the secret ${name} is not set in the environment of the ${process}` : `the secret file ${name} is empty`,
    );
  if (value.length < MIN_SECRET_CHARS)
    throw new Error(
      `the secret ${name} has ${value.length} characters: expected at least ${MIN_SECRET_CHARS}, because a shorter value cannot be redacted in outputs`,
    );
  return value;
}

function fileText(path: string, process: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (found.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the secret file ${path} of the ${process} cannot be read: ${why}`, { cause: error });
  }
}
