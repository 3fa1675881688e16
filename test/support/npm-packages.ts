import { spawnSync } from 'node:child_process';

/** Installs packages that only one test needs into `folder`. Their install scripts do not run. */
export function installPackages(folder: string, packages: readonly string[]): void {
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--loglevel', 'error'];
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', folder, ...options, ...packages], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm could not install ${packages.join(', ')}:\n${stderr}`);
}
