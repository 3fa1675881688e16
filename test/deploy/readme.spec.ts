import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigFile } from '#contracts';
import { decisionList } from '../../libs/decisions.mjs';

const CONFIGURATION = 'deploy/CONFIGURATION.md';
/** Documents for readers of the whole product; those of single libraries are read with their code. */
const DOCUMENTS = [
  'README.md',
  CONFIGURATION,
  'apps/README.md',
  'apps/cli/README.md',
  'apps/dashboard/README.md',
  'apps/examples/README.md',
  'deploy/README.md',
  ...readdirSync('deploy/guides').map((name) => `deploy/guides/${name}`),
  'libs/README.md',
  'libs/client/README.md',
  'libs/hooks/README.md',
  'libs/policy/README.md',
  'libs/tools/README.md',
  'test/README.md',
];
/** Documents of single libraries: only their lines are checked. */
const LIBRARY_DOCUMENTS = readdirSync('libs', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => `libs/${path}`);
const boundaries = z
  .object({ forbidden: z.array(z.object({ name: z.string(), to: z.object({ pathNot: z.unknown().optional() }) })) })
  .parse(createRequire(import.meta.url)('../../.dependency-cruiser.cjs'));
const read = (path: string) => readFileSync(path, 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const withoutDiagrams = (text: string) => text.replaceAll(/```mermaid\n[\s\S]*?```/g, '');
/** Rows of a table cannot be wrapped. */
const withoutTables = (text: string) => text.replaceAll(/<!-- (?:variables|fields): [\s\S]*?<!-- end -->/g, '');
/** Prose without code and without rows of tables, which cannot be wrapped. */
const proseOf = (text: string) => text.replaceAll(/^```[\s\S]*?^```|^\|.*$/gm, '');
const linesOver120 = (text: string) => text.split('\n').filter((line) => line.length > 120);
/** Anchor of a heading on the web pages of Git hosts. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');

describe('deploy/CONFIGURATION.md', () => {
  const configuration = read(CONFIGURATION);

  it('shows parts of a config file in deploy/CONFIGURATION.md that are valid', () => {
    const parts = matches(configuration, /```yaml\n([\s\S]*?)```/g).map((text) => z.record(z.string(), z.unknown()).parse(parse(text)));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.filter((part) => !ConfigFile.safeParse(part).success)).toEqual([]);
  });

  it('documents working hooks in deploy/CONFIGURATION.md', () => {
    const [text = ''] = matches(configuration, /```yaml\n(hooks:[\s\S]*?)```/g);
    const guard = ConfigFile.parse(parse(text)).hooks.find((hook) => hook.command !== undefined);
    const exitCodeFor = (command: string) => {
      const input = JSON.stringify({ event: 'before', hook: guard?.name, tool_name: 'shell', tool_input: { command } });
      return spawnSync('sh', ['-c', guard?.command ?? ''], { input }).status;
    };
    expect([exitCodeFor('echo fine'), exitCodeFor('kubectl --context prod delete pod x')]).toEqual([0, 2]);
  });
});

describe('README.md', () => {
  it('keeps README.md within 150 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150);
  });

  it('puts toolyard on the PATH so that it runs in any folder without a request to a registry', async () => {
    const [line = ''] = matches(read('README.md'), /^(export PATH=\S+)/gm);
    const requests: (string | undefined)[] = [];
    const registry = createServer(({ url }, response) => {
      requests.push(url);
      response.writeHead(404).end();
    });
    await once(registry.listen(0, '127.0.0.1'), 'listening');
    const { port } = registry.address() as AddressInfo;
    const empty = mkdtempSync(join(tmpdir(), 'toolyard-empty-'));
    const env = { PATH: process.env['PATH'] ?? '', npm_config_registry: `http://127.0.0.1:${port}/` };
    try {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line}\ncd ${empty}\ntoolyard --version`], { env });
      const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
      expect([stdout.trim(), requests]).toEqual([version, []]);
    } finally {
      registry.close();
      rmSync(empty, { recursive: true });
    }
  });
});

describe('the documents and texts of the project', () => {
  const FOLDERS = ['apps', 'deploy', 'libs', 'test', '.github'];
  const files = ['README.md', 'package.json'].concat(
    FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.(?:md|tsx?|mjs|json|ya?ml|py|html)$/.test(path))
        .map((path) => join(folder, path)),
    ),
  );
  // Anybody may register the name without a scope. With --no-install npx asks the registry for it, too.
  const INSTALLS = /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun) +(?:x|i|exec|dlx|install|add))(?: +-\S+)* +toolyard(?![\w/.-])/g;
  /** Arrays of words, and the command and arguments of an MCP client, as one line. */
  const asCommands = (text: string) => text.replaceAll(/["'`[\](),]|\bargs"?:/g, ' ');

  it('mentions no command that runs or installs the package name toolyard, which anybody may register', () => {
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.filter((path) => asCommands(read(path)).search(INSTALLS) !== -1)).toEqual([]);
  });
});

describe('libs/README.md and apps/README.md', () => {
  const foldersOf = (path: string) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);

  it('names every library and every app once in libs/README.md and apps/README.md', () => {
    expect(matches(read('libs/README.md'), /^\| \[`[^`]+`\]\(([^)]+)\) \|/gm).toSorted()).toEqual(foldersOf('libs').toSorted());
    const [apps = ''] = read('apps/README.md').split('\n## ');
    expect(matches(apps, /^\| `([^`]+)` \|/gm).toSorted()).toEqual(foldersOf('apps').toSorted());
  });

  it('lists every decision in libs/DECISIONS.md and apps/README.md (npm run generate renews the list)', () => {
    expect(read('libs/DECISIONS.md')).toBe(decisionList());
    expect(matches(read('libs/DECISIONS.md'), /^- \[(.+)\]\(/gm).length).toBeGreaterThan(30);
    const ofGateway = readdirSync('apps/gateway/decisions').map((file) => `gateway/decisions/${file}`);
    expect(ofGateway.filter((path) => !read('apps/README.md').includes(`](${path})`))).toEqual([]);
  });

  it('documents the same import boundaries of libraries as the rules', () => {
    const [, section = ''] = /\n## Dependencies\n([\s\S]*?)\n## /.exec(read('libs/README.md')) ?? [];
    const stated = new Map(
      section
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .flatMap((line) => {
          const [names = [], imports = []] = line.split(' | ').map((cell) => matches(cell, /`([a-z-]+)`/g));
          return names.map((name) => [name, imports.toSorted()] as const);
        }),
    );
    const allowed = boundaries.forbidden.flatMap(({ name, to: { pathNot } }) => {
      const [, library] = /^siblings-apart-(.+)$/.exec(name) ?? [];
      const imports = matches(String(pathNot), /^\^libs\/\((.*)\)\/$/g)
        .flatMap((names) => names.split('|'))
        .filter((it) => it !== library && !['contracts', 'observability', 'patterns', 'timing'].includes(it));
      return library === undefined || imports.length === 0 ? [] : [[library, imports.toSorted()] as const];
    });
    // Client has a rule of its own: contracts and nothing else.
    stated.delete('client');
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(allowed));
  });

  it('maps the folders of gateway and worker in apps/README.md', () => {
    const folders = [...foldersOf('apps/gateway/src'), ...foldersOf('apps/worker/src')];
    expect(folders.filter((name) => !read('apps/README.md').includes(`\`${name}/\``))).toEqual([]);
  });
});

describe('libs/tools/README.md', () => {
  it('names every built-in tool in libs/tools/README.md', () => {
    const folder = 'libs/tools/src';
    const tools = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.tool.ts'))
      .flatMap((file) => matches(read(`${folder}/${file}`), /^ {2}name: '([a-z_]+)'/gm));
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter((tool) => !read('libs/tools/README.md').includes(`\`${tool}\``))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path);

  it('links only to files and headings that exist', () => {
    const links = matches(text, /\]\(([^)]+)\)/g).filter((link) => !link.startsWith('http'));
    const broken = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(target)) return true;
      return (
        anchor !== undefined &&
        !matches(read(target), /^#+ (.+)$/gm)
          .map(anchorOf)
          .includes(anchor)
      );
    });
    expect(broken).toEqual([]);
  });

  it('names only scripts that exist', () => {
    const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));
    expect(matches(text, /npm run ([a-z:]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  });

  it('has lines of at most 120 characters', () => {
    expect(linesOver120(withoutTables(withoutDiagrams(text)))).toEqual([]);
  });
});

describe.each([...LIBRARY_DOCUMENTS, 'deploy/BACKUP.md', 'deploy/LOGIN.md', 'deploy/prometheus/runbook.md'])('%s', (path) => {
  it('has lines of prose of at most 120 characters', () => {
    expect(linesOver120(proseOf(read(path)))).toEqual([]);
  });
});
