import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Installs packages that only one test needs into `folder`. Their install scripts do not run. */
export async function installPackages(folder: string, packages: readonly string[]): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--loglevel', 'error'];
  await promisify(execFile)('npm', ['install', '--prefix', folder, ...options, ...packages]).catch((error: { readonly stderr: string }) => {
    throw new Error(`npm could not install ${packages.join(', ')}:\n${error.stderr}`);
  });
}
