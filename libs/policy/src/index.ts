export { decide, type CallFacts, type Rule } from './decide.js';
