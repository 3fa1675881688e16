import { findDestructiveCommand } from './destructive-command.js';
import { executableOf, type ParsedCommand, type SubCommand } from './sub-command.js';
import { unknownProgram } from './unread-command.js';

export type CommandRisk = 'low' | 'medium' | 'high';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** The most programs that a reason names. */
const MOST_NAMED = 5;

const HIGH = words(
  'rm mkfs dd shutdown reboot halt poweroff sudo su doas chown chmod useradd userdel usermod passwd mount umount iptables ufw firewall-cmd ' +
    'curl wget nc ncat netcat scp ssh ftp telnet',
);
const MEDIUM = words('touch mkdir mv cp ln');
const PACKAGES = words('install i add remove rm uninstall update upgrade publish ci');
const MEDIUM_ACTIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words('commit push reset clean rebase merge cherry-pick revert branch checkout switch tag'),
  npm: PACKAGES,
  pnpm: PACKAGES,
  yarn: PACKAGES,
  cargo: words('add remove install clean publish'),
};

/**
 * Highest class of all sub-commands, including commands run by arguments. Unread parts, and programs unknown before the run,
 * are high.
 */
export function riskOf(reading: ParsedCommand): CommandRisk {
  if (reading.unread === true || findDestructiveCommand(reading) !== undefined) return 'high';
  const risks = reading.commands.map(riskOfOne);
  return risks.includes('high') ? 'high' : risks.includes('medium') ? 'medium' : 'low';
}

/** The programs of a command that have the class, as written, each once. */
export function programsOf(reading: ParsedCommand, risk: CommandRisk): string[] {
  const found = reading.commands.filter((command) => command.words.length > 0 && riskOfOne(command) === risk);
  return [...new Set(found.map(({ words: [program] }) => program?.value ?? ''))].slice(0, MOST_NAMED);
}

/** Class of one command; commands in its arguments are separate commands. */
export function riskOfOne(command: SubCommand): CommandRisk {
  const name = executableOf(command);
  if (name === undefined || HIGH.has(name) || name.startsWith('mkfs.') || unknownProgram(command) !== undefined) return 'high';
  if (MEDIUM.has(name)) return 'medium';
  const actions = Object.hasOwn(MEDIUM_ACTIONS, name) ? MEDIUM_ACTIONS[name] : undefined;
  const action = actionOf(command, name);
  return actions !== undefined && action !== undefined && actions.has(action) ? 'medium' : 'low';
}

const VALUED = new Map([
  ['git', words('-C -c --git-dir --work-tree --namespace --exec-path')],
  ['npm', words('--prefix -w --workspace -C')],
  ['cargo', words('-C --config --color')],
]);

/** The sub-command of a program such as git: its first word that is no option nor an option's value. */
export function actionOf({ words: [, ...args] }: SubCommand, name: string): string | undefined {
  const valued = VALUED.get(name);
  for (let at = 0; at < args.length; at++) {
    const value = args[at]?.value ?? '';
    if (valued?.has(value) === true) at++;
    else if (!value.startsWith('-') && !value.startsWith('+')) return value;
  }
  return undefined;
}
