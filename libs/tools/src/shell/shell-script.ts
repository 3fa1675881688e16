/** The last line of a complete state. */
export const STATE_END = '#end\n';

/**
 * Bash that restores a shell's state from descriptor 3 and writes the new one to descriptor 4. Includes the folder, the umask,
 * variables, functions, and extglob, without which functions that need it can be neither read nor run. Excludes variables that
 * the worker sets for every command, other options and traps, and aliases, which can change the meaning of a later command
 * after its evaluation. Says which options, aliases and open descriptors of the command are not kept, without options that
 * scripts begin with. Descriptors 1 and 2 count where they lead to a file. A function that exits still has its redirections, and
 * copies of what they replaced, from 10 on: of those only 3 to 9 count then.
 *
 * User code may replace functions but not the commands run by `builtin`; it may still damage its own state, which is only
 * returned to the same session. An `exec`, or an own EXIT trap together with `exit`, leaves the former state in place.
 */
const KEEPER = `
declare -A __toolyard_given
while IFS= read -r __toolyard_name; do __toolyard_given[$__toolyard_name]=\${!__toolyard_name}; done < <(compgen -e)
__toolyard_open() { [[ -e /dev/fd/$1 && ( $1 -gt 2 || -f /dev/fd/$1 ) ]]; }
__toolyard_save() {
  { builtin local __toolyard_code="$?"; builtin set +x; } 2>/dev/null
  [[ -z $__toolyard_saved ]] || builtin return "$__toolyard_code"
  builtin local __toolyard_now="$BASHOPTS:$SHELLOPTS:" __toolyard_lost=
  { builtin set +eufvxn; } 2>/dev/null
  __toolyard_saved=1
  for __toolyard_name in "\${!BASH_ALIASES[@]}"; do __toolyard_lost+=", alias $__toolyard_name"; done
  while IFS= builtin read -r -d : __toolyard_name; do
    case $__toolyard_options:$__toolyard_name in
      *:$__toolyard_name:*:*|*:extglob|*:expand_aliases|*:errexit|*:nounset|*:pipefail|*:errtrace|*:functrace|*:xtrace|*:verbose) builtin continue ;;
    esac
    __toolyard_lost+=", option $__toolyard_name"
  done <<< "$__toolyard_now"
  builtin local __toolyard_first=1 __toolyard_last=99
  [[ \${#FUNCNAME[@]} == 1 ]] || __toolyard_first=3 __toolyard_last=9
  for ((__toolyard_name = __toolyard_first; __toolyard_name <= __toolyard_last; __toolyard_name++)); do
    [[ $__toolyard_files == *:$__toolyard_name:* ]] || ! __toolyard_open "$__toolyard_name" || __toolyard_lost+=", descriptor $__toolyard_name"
  done
  [[ -z $__toolyard_lost ]] || builtin echo "this shell does not keep\${__toolyard_lost#,}: set them in each command" >&2
  {
    builtin printf 'builtin cd -- %q 2>/dev/null || builtin echo "the folder of this shell is gone; it starts again in the workspace" >&2\\n' "$PWD"
    builtin printf 'OLDPWD=%q\\n' "$OLDPWD"
    builtin umask -p
    while IFS= builtin read -r __toolyard_name; do
      case $__toolyard_name in
        __toolyard_*|BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HIST*|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PS4|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_|TOOLYARD_RUN) builtin continue ;;
      esac
      [[ -n \${__toolyard_given[$__toolyard_name]+given} && \${!__toolyard_name} == "\${__toolyard_given[$__toolyard_name]}" ]] && builtin continue
      builtin declare -p -- "$__toolyard_name"
    done < <(builtin compgen -v)
    builtin printf 'builtin shopt -s extglob\\n'
    while IFS= builtin read -r __toolyard_name; do
      [[ $__toolyard_name == __toolyard_* ]] || builtin declare -f -- "$__toolyard_name"
    done < <(builtin compgen -A function)
    builtin declare -Fx
    builtin shopt -q extglob || builtin printf 'builtin shopt -u extglob\\n'
    builtin printf '${STATE_END.replace('\n', '\\n')}'
  } >&"$__toolyard_out" 2>/dev/null
  builtin return "$__toolyard_code"
}
`;

/**
 * Single line, so that the line numbers in messages are those of the command. Arguments: the keeper, the command, a folder or
 * nothing.
 */
const MAIN = [
  'builtin eval "$1"',
  '__toolyard_command=$2 __toolyard_folder=$3 __toolyard_saved= __toolyard_files=',
  'exec {__toolyard_out}>&4 4>&-',
  'builtin set --',
  'builtin source /dev/fd/3',
  'exec 3<&-',
  '[[ -z $__toolyard_folder ]] || builtin cd -- "$__toolyard_folder"',
  '__toolyard_options=:$BASHOPTS:$SHELLOPTS:',
  'for ((__toolyard_name = 1; __toolyard_name < 100; __toolyard_name++)); do ! __toolyard_open "$__toolyard_name" || __toolyard_files+=:$__toolyard_name:; done',
  'builtin trap __toolyard_save EXIT',
  'builtin true',
  'builtin eval "$__toolyard_command"',
  '{ __toolyard_code=$?; builtin set +x; } 2>/dev/null',
  '__toolyard_save',
  'builtin exit "$__toolyard_code"',
].join('; ');

/** The arguments of bash that run `command` in the state of a session. `folder`: where to go first, instead of where the session is. */
export function persistentArguments(command: string, folder: string | undefined): string[] {
  return ['-c', MAIN, 'bash', KEEPER, command, folder ?? ''];
}
