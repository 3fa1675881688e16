import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { OWN_TAGS, processTagMethod } from './process-tag.js';

/**
 * Ends the runs of this process after its abrupt end (kill -9, out of memory).
 *
 * A single shell, in a session of its own, waits for the end of its standard input, which only this process holds open. It then
 * kills all processes with a tag of this process, repeatedly until none is found, for at most two seconds. The cost is one
 * sleeping shell a worker and nothing a call. Without marks (not Linux) there is no watch: running commands then outlive a
 * killed worker.
 */
const SCRIPT = `
trap '' TERM INT HUP
while read -r line; do :; done
tries=0
while [ $tries -lt 20 ]; do
  pids=$(grep -ls -- "$1" /proc/[0-9]*/"$2" | cut -d/ -f3)
  [ -n "$pids" ] || exit 0
  kill -KILL $pids 2>/dev/null
  sleep 0.1
  tries=$((tries + 1))
done`;

let watch: ChildProcess | undefined;

/** Starts the watch unless it runs. Idempotent and cheap; called before every run, so a watch that died comes back. */
export function startParentDeathWatchdog(): void {
  const mark = processTagMethod();
  if (mark.kind === 'none' || (watch !== undefined && watch.exitCode === null && watch.signalCode === null)) return;
  watch = spawn('/bin/sh', ['-c', SCRIPT, 'toolyard-orphan-watch', mark.format(OWN_TAGS), mark.file], {
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watch.on('error', () => (watch = undefined));
  watch.stdin?.on('error', () => undefined);
  // Neither the shell nor its pipe may keep this process from ending, since they wait for its end.
  watch.unref();
  if (watch.stdin instanceof Socket) watch.stdin.unref();
}
