import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigFile } from '#contracts';

const readme = readFileSync('README.md', 'utf8');
const configs = ['gateway/src/gateway', 'worker/src/worker', 'standalone/src/standalone']
  .map((path) => readFileSync(`apps/${path}.config.ts`, 'utf8'))
  .join('\n');

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

describe('README.md', () => {
  it('lists every variable that an app reads, and no other', () => {
    const rows = matches(readme, /^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm).flatMap((cell) => matches(cell, /`([A-Z_]+)`/g));
    const read = [
      ...matches(configs, /^ {2}([A-Z][A-Z_]+): /gm),
      ...matches(readFileSync('libs/tools/src/sandbox/sandbox.config.ts', 'utf8'), /^ {2}(SANDBOX[A-Z_]*): /gm),
      ...matches(readFileSync('libs/tracing/src/tracing.config.ts', 'utf8'), /^ {2}(OTEL_[A-Z_]+): /gm),
      ...matches(readFileSync('libs/tools/src/egress/egress.config.ts', 'utf8'), /env\['([A-Z_]+)'\]/g),
    ];
    expect(read.length).toBeGreaterThan(20);
    expect(sorted(rows)).toEqual(sorted(read));
  });

  it('names only files and scripts that exist', () => {
    const files = matches(readme, /\]\(([^)#]+)\)/g).filter((path) => !path.startsWith('http'));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(readFileSync('package.json', 'utf8')));
    expect(matches(readme, /npm run ([a-z:]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  });

  it('shows hooks that do what it says', () => {
    const [text = ''] = matches(readme, /```yaml\n(hooks:[\s\S]*?)```/g);
    const guard = ConfigFile.parse(parse(text)).hooks.find((hook) => hook.command !== undefined);
    const exitCodeFor = (command: string) => {
      const input = JSON.stringify({ event: 'before', hook: guard?.name, tool_name: 'shell', tool_input: { command } });
      return spawnSync('sh', ['-c', guard?.command ?? ''], { input }).status;
    };
    expect([exitCodeFor('echo fine'), exitCodeFor('kubectl --context prod delete pod x')]).toEqual([0, 2]);
  });

  it('names every built-in tool', () => {
    const folder = 'libs/tools/src/builtin';
    const tools = readdirSync(folder)
      .filter((file) => file.endsWith('.tool.ts'))
      .flatMap((file) => matches(readFileSync(`${folder}/${file}`, 'utf8'), /^ {2}name: '([a-z_]+)'/gm));
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter((tool) => !readme.includes(`\`${tool}\``))).toEqual([]);
  });
});
