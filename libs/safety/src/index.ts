export { Redactor, type Redacted, type RedactedStream } from './redactor.js';
