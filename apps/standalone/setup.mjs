// Installs what `npm start` and `npm test` need and this machine lacks: the npm packages of package-lock.json, and a Redis or Valkey
// server, ripgrep and bubblewrap from the system's package manager. Uses nothing but Node itself, since it runs before `npm ci`.
//
// Steps: list what is missing → get consent → npm ci → system packages.
// Consent: root needs none; on a terminal one question; otherwise npm packages are installed and the command for the rest is printed.
// `TOOLYARD_SETUP=no` forbids all of it. No system service is started, and none starts at the next boot.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TICK_MS = 4_000;

/**
 * Programs called by the product. `without` describes a start without the program; a start without an entry that has none is
 * rejected.
 */
const PROGRAMS = [
  {
    names: ['redis-server', 'valkey-server'],
    for: 'the event log and the queues',
    packages: { 'apt-get': 'redis-server', dnf: 'valkey', apk: 'valkey', brew: 'redis' },
    needed: (env) => !env.REDIS_URL,
  },
  {
    names: ['rg'],
    for: 'searching files',
    packages: { 'apt-get': 'ripgrep', dnf: 'ripgrep', apk: 'ripgrep', brew: 'ripgrep' },
    without: 'file_search and glob are unavailable',
  },
  {
    names: ['bwrap'],
    for: 'isolating shell commands',
    packages: { 'apt-get': 'bubblewrap', dnf: 'bubblewrap', apk: 'bubblewrap' },
    without: 'shell commands run without isolation',
    needed: () => process.platform === 'linux',
  },
];

/** Commands for a person. `installPrograms` makes apt-get print less. */
const INSTALL = {
  'apt-get': (names) => `apt-get update && apt-get install -y --no-install-recommends ${names.join(' ')}`,
  dnf: (names) => `dnf install -y ${names.join(' ')}`,
  apk: (names) => `apk add ${names.join(' ')}`,
  brew: (names) => `brew install ${names.join(' ')}`,
};

/** Debian's packages start their service when installed and at each boot; policy-rc.d is Debian's own way to forbid the first. */
const WITHOUT_SERVICES = (install) => `
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
${install} || exit 1
if [ -d /run/systemd/system ] && [ -e /lib/systemd/system/redis-server.service ]; then systemctl disable redis-server; fi`;

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** True if node_modules has the packages of package-lock.json; packages for other platforms may be missing. */
function npmPackagesMatch() {
  const lockOf = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')).packages;
  if (!existsSync(join(ROOT, 'node_modules/.package-lock.json'))) return false;
  const wanted = lockOf('package-lock.json');
  const installed = lockOf('node_modules/.package-lock.json');
  return Object.entries(wanted).every(([path, { version, optional, peer }]) => {
    if (path === '') return true;
    const found = installed[path];
    return found === undefined ? optional === true || peer === true : found.version === version;
  });
}

/** Runs one command with its output shown, and prints every few seconds that `name` still runs. @returns whether it succeeded */
function run([command, ...args], { name = command, env = {}, done = () => '' } = {}) {
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] });
  const startedAt = Date.now();
  const ticking = setInterval(() => {
    console.log(`  … ${name} has been running for ${Math.round((Date.now() - startedAt) / 1000)} s${done()}`);
  }, TICK_MS);
  return new Promise((resolve) => {
    const settle = (ok) => {
      clearInterval(ticking);
      resolve(ok);
    };
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      settle(false);
    });
    child.once('exit', (code) => settle(code === 0));
  });
}

/** Progress of npm, which creates all folders first, then unpacks. */
function unpacked() {
  const folder = join(ROOT, 'node_modules');
  let names;
  try {
    names = readdirSync(folder).filter((name) => !/^[.@]/.test(name));
  } catch {
    return ''; // npm has removed it, and makes it again.
  }
  return `, ${names.filter((name) => existsSync(join(folder, name, 'package.json'))).length} of ${names.length} packages are unpacked`;
}

async function askPerson(question) {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question(question);
  lines.close();
  return /^(y(es)?)?$/i.test(answer.trim());
}

function installPrograms(manager, names, asRoot) {
  const command = INSTALL[manager](names).replaceAll('apt-get ', 'apt-get -qq -o Dpkg::Use-Pty=0 ');
  const script = manager === 'apt-get' && names.includes('redis-server') ? WITHOUT_SERVICES(command) : command;
  return run([...asRoot, 'sh', '-c', script], { name: manager, env: { DEBIAN_FRONTEND: 'noninteractive' } });
}

function fail(text) {
  console.error(`\n${text}\n`);
  process.exit(1);
}

const npmMissing = !npmPackagesMatch();
const missing = PROGRAMS.filter(({ names, needed }) => (needed?.(process.env) ?? true) && !names.some(isOnPath));
const required = missing.filter(({ without }) => without === undefined);
if (process.env.TOOLYARD_SETUP === 'no' || (!npmMissing && missing.length === 0)) process.exit(0);

const manager = Object.keys(INSTALL).find(isOnPath);
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot || manager === 'brew' ? [] : ['sudo'];
const installable = manager === undefined ? [] : missing.filter(({ packages }) => packages[manager] !== undefined);
const names = installable.map(({ packages }) => packages[manager]);
const byHand = names.length === 0 ? undefined : asRoot.length === 0 ? INSTALL[manager](names) : `sudo sh -c '${INSTALL[manager](names)}'`;

console.log('Toolyard needs what this machine does not have yet:');
if (npmMissing) console.log('  npm packages of package-lock.json (npm ci)');
for (const program of missing)
  console.log(`  ${program.names.join(' or ')}: ${program.for}${program.without === undefined ? '' : ` (without it ${program.without})`}`);

const onTerminal = process.stdin.isTTY && process.stdout.isTTY;
const agreed = isRoot || (onTerminal && (await askPerson(`Install ${names.length > 0 ? `with npm and ${manager}` : 'with npm'}? [Y/n] `)));

if (npmMissing) {
  if (onTerminal && !agreed) fail('Nothing was installed. Run `npm ci`, then this command again.');
  console.log('Installing npm packages, about a minute …');
  const npm = [process.platform === 'win32' ? 'npm.cmd' : 'npm', 'ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  if (!(await run(npm, { done: unpacked }))) fail('`npm ci` failed; what it said is above. Correct it and start again.');
}
if (names.length > 0 && agreed) {
  console.log(`Installing ${names.join(', ')} with ${manager} …`);
  if (!(await installPrograms(manager, names, asRoot)))
    console.error(`Installing failed; what ${manager} said is above. By hand: ${byHand}`);
} else if (names.length > 0) console.log(`To install the rest: ${byHand}`);

const stillMissing = required.filter(({ names: programs }) => !programs.some(isOnPath));
if (stillMissing.length > 0)
  fail(
    `There is no ${stillMissing[0].names.join(' or ')}. ` +
      (byHand === undefined ? 'Install one with your package manager' : `Install it: ${byHand}`) +
      ', or set REDIS_URL to a server that runs (Redis 7 or Valkey 7.2 and newer).',
  );
