import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * One file of a package of the registry, unpacked into `folder`: for packages that are too large to be dependencies of
 * the tests. Returns its path.
 */
export function packedFile(folder: string, name: string, file: string): string {
  const run = (command: string, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr}`);
    return stdout.trim();
  };
  const archive = run('npm', ['pack', name, '--silent', '--pack-destination', folder]);
  run('tar', ['-xzf', join(folder, archive), '-C', folder, `package/${file}`]);
  return join(folder, 'package', file);
}
