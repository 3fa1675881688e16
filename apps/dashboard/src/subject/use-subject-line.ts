import type { Call } from '#contracts';
import { markedText, subjectText } from '#subject';
import { useSubjects } from '../components/use-subjects.js';

const SUBJECT_CHARS = 2000;

/** Subject of a call, in one line: `$ npm test`, `src/login.ts`. Hidden characters are written out, doubtful names marked. */
export function useSubjectLine({ tool, arguments: args }: Pick<Call, 'tool' | 'arguments'>): string {
  const subjects = useSubjects(tool);
  return markedText(subjectText(JSON.stringify(args).slice(0, SUBJECT_CHARS), subjects));
}
