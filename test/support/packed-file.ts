import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Archives by folder and package: some packages have many of the files. */
const archives = new Map<string, string>();

/**
 * Unpacks one file of a registry package into `folder`: for packages that are too large to be dependencies of the tests. Returns its
 * path. The package is fetched once into `store`.
 */
export function packedFile(folder: string, name: string, file: string, store = folder): string {
  const run = (command: string, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr}`);
    return stdout.trim();
  };
  const key = `${store} ${name}`;
  const archive = archives.get(key) ?? join(store, run('npm', ['pack', name, '--silent', '--pack-destination', store]));
  archives.set(key, archive);
  run('tar', ['-xzf', archive, '-C', folder, `package/${file}`]);
  return join(folder, 'package', file);
}
