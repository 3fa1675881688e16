export { SyscallAnomalyDetector } from './anomaly/syscall-anomaly.js';
export { environmentSecrets } from './environment-secrets.js';
export { masked, type Masked } from './placeholders.js';
export { marked } from './provenance.js';
export { Redactor } from './redactor.js';
export { Safety } from './safety.js';
export type { SafeTextStream } from './text/safe-text.js';
export { visibleJson, visibleText } from './text/visible-text.js';
export { MARK } from './secrets/verdict.js';
