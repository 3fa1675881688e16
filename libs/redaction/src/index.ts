export { SyscallAnomalyDetector } from './anomaly/syscall-anomaly.js';
export { environmentSecrets } from './environment-secrets.js';
export { maskSecrets, type MaskedValue } from './placeholders.js';
export { tagUntrusted, removeTag } from './provenance.js';
export { MOST_SECRETS, Redactor } from './redactor.js';
export { ContentSanitizer } from './content-sanitizer.js';
export type { SanitizedTextStream } from './text/sanitized-text.js';
export { escapeInvisibleJson, escapeInvisibleText } from './text/escape-invisible.js';
export { REDACTED } from './secrets/secret-match.js';
