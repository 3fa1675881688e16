import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';

export function newStore(): InMemoryTaskStore;
export function taskServer(options?: { store?: InMemoryTaskStore; held?: Promise<void> }): McpServer;
