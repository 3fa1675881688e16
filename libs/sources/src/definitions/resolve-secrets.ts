import type { SecretOrText } from '#contracts';

/** Headers or variables with the values of their secrets. @throws Error that names the variable that is not set */
export function resolveSecrets(
  values: Readonly<Record<string, SecretOrText>>,
  env: Readonly<Record<string, string | undefined>>,
  process: 'worker' | 'gateway' = 'worker',
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : secret(value.secretEnv, env, process)]),
  );
}

function secret(name: string, env: Readonly<Record<string, string | undefined>>, process: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`the secret ${name} is not set in the environment of the ${process}`);
  return value;
}
