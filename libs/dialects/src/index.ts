export { answersOf, dialectOf } from './dialects.js';
export { renderOutput, renderRefusal, type SpokenCall } from './render.js';
export { viewOf } from './views.js';
