export * from './tool.port.js';
