// The package.json and README of each package, from those of this project.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Repository from which the packages are published: npm compares it with the provenance. */
const { GITHUB_REPOSITORY: from } = process.env;

const common = ({ version, license, engines }) => ({
  version,
  license,
  type: 'module',
  engines,
  ...(from ? { repository: { type: 'git', url: `git+https://github.com/${from}.git` } } : {}),
  publishConfig: { access: 'public', provenance: true },
});

/** Manifest of a bundle: `entries` as file name → source, `externals` the modules that it imports. */
export function bundleManifest(root, { folder, entries, externals }) {
  const packages = externals.filter((id) => !id.startsWith('node:')).map(packageOf);
  const peers = Object.fromEntries(Object.entries(OPTIONAL_PEERS).filter(([name]) => packages.includes(name)));
  const exported = Object.entries(entries).map(([name, path]) => [
    name === 'index' ? '.' : `./${name}`,
    { types: `./types/${path}.d.ts`, default: `./${name}.js` },
  ]);
  return {
    name: `@toolyard/${folder}`,
    description: DESCRIPTIONS[folder],
    ...common(root),
    sideEffects: false,
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    types: exported[0][1].types,
    // Mapping for the declarations only: the code is bundled.
    imports: { '#contracts': { types: './types/libs/contracts/src/index.d.ts' } },
    dependencies: pick(
      root.dependencies,
      packages.filter((name) => !Object.hasOwn(peers, name)),
    ),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
}

/** Packages of one entry only, whose user has them. */
const OPTIONAL_PEERS = { rxjs: '^7.2.0' };

const DESCRIPTIONS = {
  client: 'Client of Toolyard, which runs the tool calls of LLM agents: calls, live events, approvals, adapters for agent SDKs.',
  'tool-sdk': 'Write tools and plugins for Toolyard, which runs the tool calls of LLM agents.',
};

const BROWSER = 'playwright-core';

/** Scoped name: anybody may register the name of the command. */
export const PROGRAM = '@toolyard/cli';

/** Manifest of the command line tool and standalone, from that of dist/program. The tool `browser` needs more of the machine, so its package is left to those who use it. */
export function programManifest(root, { imports, dependencies, optionalDependencies: { [BROWSER]: browser, ...optionalDependencies } }) {
  return {
    name: PROGRAM,
    description: root.description,
    ...common(root),
    bin: root.bin,
    imports,
    dependencies,
    optionalDependencies,
    peerDependencies: { [BROWSER]: browser },
    peerDependenciesMeta: { [BROWSER]: { optional: true } },
  };
}

/** The README of a folder, with the names that its content has outside of this project; links into the project become plain text. */
export function readmeOf(folder) {
  const file = join(folder, 'README.md');
  const adapters = join(folder, 'src/adapters/README.md');
  const text = [file, adapters].filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  return text
    .join('\n')
    .replaceAll(/ \/\/ in other folders: .*/g, '')
    .replaceAll(/ \/\/ this folder: #.*/g, '')
    .replaceAll(/#(client|tool-sdk)\b/g, '@toolyard/$1')
    .replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
}

function packageOf(id) {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

function pick(dependencies, names) {
  const missing = names.filter((name) => dependencies[name] === undefined);
  if (missing.length > 0) throw new Error(`a bundle imports ${missing.join(', ')}, which package.json does not name under dependencies`);
  // A range: a program that has zod itself then shares it.
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, `^${dependencies[name]}`]));
}
