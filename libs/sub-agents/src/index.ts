export type { OpenAnswer, SubmitAnswer } from './agent-answers.js';
export { AgentConnector } from './agent.source.js';
export { configuredModel } from './model/configured-model.js';
export type { AgentLoopParts } from './agent-loop.js';
export { AgentGateway } from './agent-gateway.js';
export type { AgentMemory, SaidTurn } from './memory/agent-memory.port.js';
export { AgentJournal, type AgentHistory } from './journal/agent-journal.js';
export { wantedOf, type RecordedToolCall, type SubmittedToolCall } from './journal/recorded-turn.js';
