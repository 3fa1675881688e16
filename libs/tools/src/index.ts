export { ToolsModule } from './tools.module.js';
export { WEB_ENV } from './web/web.config.js';
export { ToolGateway } from './gateway/tool-gateway.port.js';
export { TaskListArguments } from './planning/task-list.tool.js';
export { TodoWriteArguments } from './planning/todo-write.tool.js';
