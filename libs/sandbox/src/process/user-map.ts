import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Duplex } from 'node:stream';

/** Inside the sandbox: root, who sets it up, and the user who runs the command. */
const SETUP_USER = 0;
export const COMMAND_USER = 65_534;

/**
 * Maps the users of a waiting bwrap (`--info-fd`, `--userns-block-fd`): root of the sandbox is root outside, the command's user
 * is the given one. `descriptor`: that of the first option, followed by the other. Needs root. Also resolves if bwrap ends
 * before. @throws if the kernel rejects the map
 */
export async function mapUser({ stdio }: ChildProcess, descriptor: number, user: number): Promise<void> {
  const [info, block] = stdio.slice(descriptor);
  if (!(info instanceof Duplex) || !(block instanceof Duplex)) throw new Error(`descriptors ${descriptor} and the next are no pipes`);
  block.on('error', () => undefined);
  const pid = await childPid(info);
  if (pid === undefined) return;
  const map = `${SETUP_USER} 0 1\n${COMMAND_USER} ${user} 1\n`;
  for (const file of ['uid_map', 'gid_map']) writeFileSync(`/proc/${pid}/${file}`, map);
  block.end('1', () => block.destroy());
}

/** Pid from `{ "child-pid": 7, ... }`, which arrives in pieces. Reads all of it, since bwrap would not survive a closed pipe. */
function childPid(info: Duplex): Promise<string | undefined> {
  let text = '';
  return new Promise((resolve) => {
    const end = () => resolve(undefined);
    info.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const [, pid] = /"child-pid": (\d+)\D/.exec(text) ?? [];
      if (pid !== undefined) resolve(pid);
    });
    info.once('error', end).once('end', end).once('close', end);
  });
}
