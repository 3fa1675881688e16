import type { ResourceLimits } from '../process/resource-limits.js';

/** First line of both streams: earlier output is from the login, before any command was started. */
export const READY = 'toolyard-ready';
/** A silent connection is given up on both sides after this time. */
export const LEASE_SECONDS = 30;
/** The words that the supervisor understands. Every other line only shows that the worker is there. */
export const STOP_WORDS = { ask: 'term\n', kill: 'kill\n', alive: '\n' } as const;

/** Command for the host, which only needs bash. */
export interface RemoteCommand {
  readonly command: string;
  /** Absolute; made where it is missing. */
  readonly folder: string;
  /** Working directory, inside the folder. */
  readonly workingDir: string;
}

/**
 * Bash that runs one command on the host and stops it when the connection ends. Contains no single quotes, since it is itself
 * quoted by some.
 *
 * 1. reports that it is ready, and reads one line with the command; without it, nothing is started
 * 2. enters the folder; rejects a working directory outside of it
 * 3. starts the command in a process group and an environment of its own, within the limits
 * 4. a second process reads the lease: at the end of the input, or after 30 s of silence, it kills the first one, which then
 *    reports nothing more, and the command
 * 5. after the end of the command, kills its remaining processes, and reports its exit
 *
 * Processes of the command are its process group and, on Linux, all processes with its variable TOOLYARD_RUN.
 */
const SCRIPT = String.raw`
printf "${READY}\n"; printf "${READY}\n" >&2
IFS=" " read -r -t ${LEASE_SECONDS} mark tag folder place text cpu file open || exit 0
exec 3<&0 4>&2 </dev/null 2>/dev/null
decode() { printf %s "$1" | base64 -d; }
end() { printf "\n%s %s\n" "$mark" "$1" >&4; exit 0; }
root=$(decode "$folder")
(umask 077; mkdir -p -- "$root") && cd -P -- "$root" || end no_folder
root=$PWD
cd -P -- "$(decode "$place")" || end no_place
case $PWD/ in "$root"/*) ;; *) end outside ;; esac
text=$(decode "$text")
set -m
(
  exec 3<&-
  ulimit -c 0; ulimit -t "$cpu"; ulimit -f "$file"; ulimit -n "$open"
  exec 2>&4 4>&-
  exec env -i PATH="$PATH" HOME="$root" PWD="$PWD" USER="$USER" LOGNAME="$LOGNAME" LANG="$LANG" TERM=dumb TOOLYARD_RUN="$tag" bash -c "$text"
) &
pid=$!
kill_all() {
  kill -KILL -- "-$pid"
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    found=$(grep -ls -- "TOOLYARD_RUN=$tag" /proc/[0-9]*/environ | cut -d/ -f3)
    [ -n "$found" ] || return
    kill -KILL $found
    sleep 0.05
  done
}
(
  while :; do
    read -r -t ${LEASE_SECONDS} line <&3 || { kill -KILL "$$"; break; }
    case $line in term) kill -TERM -- "-$pid" ;; kill) break ;; esac
  done
  kill_all
) >/dev/null 4>&- &
lease=$!
exec 3<&-
wait "$pid"
code=$?
kill_all
kill -KILL -- "-$lease"
end "$code"
`;

/** The command line for the shell of the account. */
export const SUPERVISOR = `exec bash --norc --noprofile -c '${SCRIPT}'`;

/** The line that starts the command. `mark` begins the last line of stderr; the command does not get to know it. */
export function startLine(run: RemoteCommand, ids: { readonly mark: string; readonly tag: string }, limits: ResourceLimits): string {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const words = [ids.mark, ids.tag, encode(run.folder), encode(run.workingDir), encode(run.command)];
  // Bash counts files in blocks of 1,024 bytes.
  return `${[...words, limits.cpuSeconds, Math.floor(limits.fileBytes / 1_024), limits.openFiles].join(' ')}\n`;
}
