export { actorText } from './actor-text.js';
export { asCli, asCurl, asPython, asSdk } from './code/call-code.js';
export { requestAsCurl, requestAsPython, requestAsTypeScript, type HttpRequest } from './code/request-code.js';
export { diffRows, folded, type DiffRow, type Side } from './diff-rows.js';
export { codeText, escapeInvisible, invisiblePieces } from './invisible.js';
export { subjectText } from './subject-line.js';
export { subjectParts, type SubjectPart } from './subject-parts.js';
