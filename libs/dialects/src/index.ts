export { AGENT_NAMES, answersOf, dialectOf, hookDenialOf } from './dialects.js';
export { renderOutput, renderRefusal, type SpokenCall } from './render.js';
export { viewOf } from './views.js';
