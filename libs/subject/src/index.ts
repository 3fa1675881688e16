export { actorText } from './actor-text.js';
export { diffRows, folded, type DiffRow, type Side } from './diff-rows.js';
export { codeText, escapeInvisible, invisiblePieces } from './invisible.js';
export { subjectText } from './subject-line.js';
export { subjectParts, type SubjectPart } from './subject-parts.js';
