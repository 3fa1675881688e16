export { AGENT_NAMES, answersOf, dialectOf, hookDenialOf } from './dialects.js';
export { renderOutput, renderRefusal, type DialectForm } from './render.js';
export type { MisunderstoodCall } from './dialect-view.js';
export { viewOf } from './views.js';
