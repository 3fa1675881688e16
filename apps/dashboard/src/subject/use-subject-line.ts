import type { Call } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { useSubjects } from '../components/use-subjects.js';

const SUBJECT_CHARS = 2000;

/** What a call does, in one line: `$ npm test`, `src/login.ts`. Hidden characters are written out. */
export function useSubjectLine({ tool, arguments: args }: Pick<Call, 'tool' | 'arguments'>): string {
  const subjects = useSubjects(tool);
  return escapeInvisible(subjectText(JSON.stringify(args).slice(0, SUBJECT_CHARS), subjects));
}
