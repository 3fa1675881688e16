import { describe, expect, it } from '@jest/globals';
import { decide } from './decide.js';
import { factsOf, UNATTENDED, type Circumstances } from './testing/call-facts.js';

const written = (path: string, circumstances: Circumstances) => decide(factsOf('file_write', { path }, circumstances)).effect;
const allowing = (...allowedCommands: string[]): Circumstances => ({ policy: { commands: { autoAllowReadonly: true, allowedCommands } } });

describe('a build file', () => {
  it.each([
    ['Makefile', 'make'],
    ['sub/makefile', 'make .*'],
    ['rules/a.mk', '^make test$'],
    ['package.json', 'npm test'],
    ['package.json', '(npm|yarn) .*'],
    ['packages/a/package.json', 'npx jest.*'],
    ['justfile', 'just .*'],
    ['build.rs', 'cargo build.*'],
    ['setup.py', 'pip install -e .*'],
    ['conftest.py', 'pytest.*'],
    ['build.gradle.kts', './gradlew .*'],
    ['pom.xml', 'mvn .*'],
    ['CMakeLists.txt', 'cmake .*'],
    ['Dockerfile', 'docker build .*'],
    ['eslint.config.mjs', 'eslint .*'],
    ['.eslintrc.json', 'eslint .*'],
    ['vite.config.ts', 'vite .*'],
    ['playwright.config.ts', 'playwright test.*'],
    ['next.config.mjs', 'next build'],
    ['Gruntfile.js', 'grunt .*'],
    ['apps/a/project.json', 'nx .*'],
    ['deno.jsonc', 'deno task .*'],
    ['composer.json', 'composer test'],
    ['tasks.py', 'invoke .*'],
    ['src/Directory.Build.props', 'dotnet test.*'],
    ['project/plugins.sbt', 'sbt .*'],
    ['mix.exs', 'mix test'],
    ['build.xml', 'ant .*'],
    ['a/BUILD.bazel', 'bazel build .*'],
    ['meson.build', 'meson .*'],
    ['flake.nix', 'nix build .*'],
    ['Package.swift', 'swift test'],
    ['pnpm-workspace.yaml', 'pnpm test'],
    ['Gemfile', 'bundle exec .*'],
    ['lib/tasks/a.rake', 'rake .*'],
    ['spec/spec_helper.rb', 'rspec.*'],
    ['.pylintrc', 'pylint .*'],
    ['.mypy.ini', 'mypy .*'],
    ['.flake8', 'flake8.*'],
    ['stylelint.config.mjs', 'stylelint .*'],
  ])('asks about a build file of a command that runs without a question: %s by %s', (path, pattern) => {
    expect([written(path, allowing(pattern)), written(path, allowing())]).toEqual(['ask', 'allow']);
  });

  it('asks about a build file after a person trusted its command, or if an allowlist has the program', () => {
    expect(written('package.json', { grants: { allowedCommands: ['^(?:npm test)$'] } })).toBe('ask');
    expect(written('package.json', { policy: { commands: { engines: ['segments'], allowlist: ['npm'] } } })).toBe('ask');
  });

  it('skips the question about a build file if all commands run unasked, other programs run unasked, or no person can be asked', () => {
    expect(written('Makefile', allowing('npm .*', 'makeinfo .*', 'make-a x'))).toBe('allow');
    expect(written('Makefile', allowing('.*'))).toBe('allow');
    expect(written('Makefile', { ...allowing('make .*'), posture: UNATTENDED })).toBe('allow');
    expect(written('src/make.ts', allowing('make .*'))).toBe('allow');
  });

  it('trusts a build file by its name', () => {
    const paths = { trusted: [{ tools: ['file_write'], allowed: ['package.json'], denied: [] }] };
    const commands = { allowedCommands: ['npm .*'] };
    expect([written('package.json', { policy: { commands, paths } }), written('a/package.json', { policy: { commands, paths } })]).toEqual([
      'allow',
      'ask',
    ]);
  });

  it.each([
    'echo x > Makefile',
    'cp a sub/Makefile',
    'tee Makefile',
    'mv a package.json',
    'curl -o Makefile https://example.com/a',
    'curl --output=package.json https://example.com/a',
    "sed -i 's/a/b/' Makefile",
  ])('asks about a command that writes a build file of an allowed program: %s', (command) => {
    const by = (...patterns: string[]) => decide(factsOf('shell', { command }, allowing('(echo|cp|tee|mv|curl|sed) .*', ...patterns)));
    const asks = (...patterns: string[]) =>
      by(...patterns).reasons.some(({ rule, effect }) => rule === 'auto-run-file' && effect === 'ask');
    expect([asks('make .*', 'npm .*'), asks()]).toEqual([true, false]);
  });

  it.each([
    'cat Makefile',
    "sed -n '1p' Makefile",
    'grep -o x Makefile',
    'chmod +x gradlew',
    'cp package.json dist/',
    'make -f Makefile test',
  ])('asks nothing about a command that writes no build file: %s', (command) => {
    const patterns = allowing('(cat|sed|grep|chmod|cp) .*', 'make .*', 'npm .*', './gradlew .*');
    expect(decide(factsOf('shell', { command }, patterns)).reasons.map(({ rule }) => rule)).not.toContain('auto-run-file');
  });
});
