import { compileExpressions } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { plainBeginning } from '../patterns/possible-match.js';
import { isUnattended } from '../risk-arguments/risk-arguments.js';

/**
 * Files that determine the commands of a build program. Writing one needs approval only if a policy or a person lets such a
 * program run without approval. A line: names, the beginnings of such commands, the reason.
 */
const BUILD_FILES: readonly (readonly [names: string, programs: string, reason: string])[] = [
  ['makefile gnumakefile *.mk', 'make,gmake', 'make runs its recipes'],
  ['package.json', 'npm,npx,yarn,pnpm,pnpx,bun,bunx', 'package managers run its scripts'],
  ['pnpm-workspace.yaml', 'pnpm', 'it names hooks that pnpm runs'],
  ['.rspec spec_helper.rb rails_helper.rb', 'rspec,bundle', 'rspec runs it, or what it names'],
  ['.pylintrc pylintrc mypy.ini .mypy.ini .flake8', 'pylint,mypy,flake8', 'the checker runs the code and plug-ins that it names'],
  [
    '.stylelintrc.* stylelint.config.* postcss.config.* tailwind.config.*',
    'stylelint,postcss,tailwindcss',
    'it is a program, or names some',
  ],
  ['justfile .justfile *.just', 'just', 'just runs its recipes'],
  ['taskfile.yml taskfile.yaml', 'task', 'task runs its commands'],
  ['rakefile gemfile *.rake *.gemspec', 'rake,rails,bundle,gem', 'it is a program in Ruby'],
  ['build.rs cargo.toml', 'cargo', 'cargo compiles and runs build scripts'],
  ['setup.py setup.cfg pyproject.toml', 'pip,pip3,uv,poetry,pdm,hatch', 'a build of the package runs what it names'],
  ['conftest.py pytest.ini tox.ini noxfile.py', 'pytest,py.test,tox,nox', 'test runners of Python run it'],
  [
    'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle-wrapper.properties gradle-wrapper.jar gradlew',
    'gradle,gradlew,./gradlew',
    'gradle runs it',
  ],
  [
    'pom.xml mvnw jvm.config maven.config extensions.xml maven-wrapper.properties',
    'mvn,mvnw,./mvnw',
    'maven runs the plugins that it names',
  ],
  ['cmakelists.txt *.cmake', 'cmake,ctest', 'cmake runs it'],
  [
    'dockerfile *.dockerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml',
    'docker,docker-compose,podman',
    'it names what is run',
  ],
  ['eslint.config.* .eslintrc.*', 'eslint', 'eslint runs it, or the plug-ins that it names'],
  ['jest.config.* vitest.config.* vite.config.*', 'jest,vitest,vite', 'it is a program, or names some'],
  ['.mocharc.* playwright.config.* cypress.config.* karma.conf.*', 'mocha,playwright,cypress,karma', 'it is a program, or names some'],
  ['webpack.config.* rollup.config.* babel.config.* .babelrc.*', 'webpack,rollup,babel', 'it is a program, or names some'],
  ['next.config.* astro.config.* nuxt.config.* svelte.config.*', 'next,astro,nuxt,nuxi,vite', 'it is a program'],
  ['gulpfile.* gruntfile.*', 'gulp,grunt', 'it is a program'],
  ['turbo.json nx.json project.json lerna.json', 'turbo,nx,lerna', 'it names what is run'],
  ['deno.json deno.jsonc', 'deno', 'deno runs its tasks'],
  ['composer.json', 'composer', 'composer runs its scripts and plug-ins'],
  ['tasks.py fabfile.py dodo.py pipfile', 'invoke,inv,fab,doit,pipenv', 'the program runs it, or scripts in it'],
  ['*.csproj *.fsproj *.vbproj *.targets *.props *.sln nuget.config', 'dotnet,msbuild', 'msbuild runs its tasks'],
  ['build.sbt plugins.sbt build.properties', 'sbt', 'sbt runs it'],
  ['mix.exs rebar.config', 'mix,rebar3', 'it is a program, or names some'],
  ['build.xml', 'ant', 'ant runs its targets'],
  ['build.bazel workspace workspace.bazel module.bazel .bazelrc *.bzl', 'bazel,bazelisk', 'bazel runs the rules in it'],
  ['meson.build sconstruct sconscript wscript build.ninja', 'meson,scons,waf,ninja', 'it is a program, or names some'],
  ['flake.nix shell.nix default.nix', 'nix,nix-shell,nix-build', 'nix builds and runs what it says'],
  ['package.swift', 'swift', 'swift compiles and runs it'],
  ['vagrantfile tiltfile procfile', 'vagrant,tilt,foreman,honcho,overmind', 'it is a program, or names some'],
  ['.prettierrc.* prettier.config.*', 'prettier', 'prettier runs it, or the plug-ins that it names'],
];

const TABLE = BUILD_FILES.map(([names, programs, reason]) => ({ names: names.split(' '), programs: programs.split(','), reason }));

/** Reason why a command runs the build file at a path without approval; undefined for other files. Pure. */
export function buildFileReason(path: string, facts: Pick<CallFacts, 'posture' | 'policy' | 'grants'>): string | undefined {
  if (isUnattended(facts.posture)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const found = TABLE.find(({ names }) => names.some((it) => isName(name, it)));
  const program = found?.programs.find((it) => runsUnasked(it, facts));
  return found === undefined || program === undefined ? undefined : `${found.reason}, and ${program} runs unasked here`;
}

/** True if a path, or a glob of paths, names a build file. */
export function isBuildFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return TABLE.some(({ names }) => names.some((it) => isName(name, it)));
}

function isName(name: string, wanted: string): boolean {
  if (wanted.startsWith('*')) return name.endsWith(wanted.slice(1));
  return wanted.endsWith('.*') ? name === wanted.slice(0, -2) || name.startsWith(wanted.slice(0, -1)) : name === wanted;
}

/** No program has this name: a pattern that matches it matches any command, and there is nothing left to protect. */
const ANY_COMMAND = 'no-such-program x';

function runsUnasked(program: string, { policy: { commands }, grants }: Pick<CallFacts, 'policy' | 'grants'>): boolean {
  const isListed = !commands.engines.includes('rules') && commands.allowlist.includes(program);
  const patterns = [...commands.allowedCommands, ...grants.allowedCommands];
  return isListed || patterns.some((pattern) => beginsWith(pattern, program) || means(pattern, program));
}

function beginsWith(pattern: string, program: string): boolean {
  const begin = plainBeginning(pattern.replace(/^\^?\(\?:/, ''));
  return begin === program || begin.startsWith(`${program} `);
}

function means(pattern: string, program: string): boolean {
  const { matching } = compileExpressions([pattern]);
  return [program, `${program} x`].some((it) => matching(it).length > 0) && matching(ANY_COMMAND).length === 0;
}
