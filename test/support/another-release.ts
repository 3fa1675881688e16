import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface AnotherRelease {
  /** The main file of one of its apps. */
  programOf(app: 'gateway' | 'worker'): string;
  remove(): void;
}

/** A copy of what is built here that says it is of this version and speaks this protocol, which works with that of this tree. */
export function anotherRelease(version: string, protocol: number): AnotherRelease {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-release-'));
  cpSync('dist', join(folder, 'dist'), { recursive: true, filter: (path) => !/\.map$|^dist\/(programs?|packages)(\/|$)/.test(path) });
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  const file = join(folder, 'dist/libs/platform/src/protocol/protocol.js');
  const code = readFileSync(file, 'utf8');
  const changed = code.replace(/PROTOCOL = \d+;/, `PROTOCOL = ${protocol};`);
  if (changed === code) throw new Error(`${file} has no line "PROTOCOL = ...;" with another number than ${protocol}`);
  writeFileSync(file, changed);
  return {
    programOf: (app) => join(folder, `dist/apps/${app}/src/main.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
