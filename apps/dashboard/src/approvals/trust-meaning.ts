import type { TrustOption } from '#contracts';

/** Meaning of a trust option, in one sentence: the calls that run without a question for the rest of the session. */
export function trustMeaning({ display, grants }: Pick<TrustOption, 'display' | 'grants'>): string {
  const { trustedTools, allowedCommands, allowedPaths } = grants;
  if (trustedTools !== undefined && trustedTools.length > 0) return `Every call of ${trustedTools.join(', ')}, with any arguments.`;
  if (allowedCommands !== undefined) return commandMeaning(display, allowedCommands);
  const acts = [allowedPaths?.write?.length ? 'writing' : '', allowedPaths?.read?.length ? 'reading' : ''].filter((it) => it !== '');
  return `Allows ${acts.join(' and ')} there, with everything below if it is a folder.`;
}

/** Patterns that end with any arguments cover more than the asked command. */
function commandMeaning(display: string, patterns: readonly string[]): string {
  if (!patterns.every((pattern) => pattern.endsWith('( .*)?$'))) return 'Exactly this command, and nothing else.';
  const begins = display.split(', ').map((each) => each.replace(/ \*$/, ''));
  return `Every command that begins with ${begins.join(' or ')}, whatever words follow. Files outside of the workspace are asked for.`;
}
