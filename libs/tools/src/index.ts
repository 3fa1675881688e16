export { ToolsModule } from './tools.module.js';
export { WEB_ENV } from './web/web.config.js';
export { ToolGateway } from './gateway/tool-gateway.port.js';
export { TaskListArguments } from './planning/task-list.tool.js';
export { TodoWriteArguments } from './planning/todo-write.tool.js';
export { ConfigArguments } from './session/config.tool.js';
export { UserMessageArguments } from './session/send-user-message.tool.js';
export { parseSetting, PERMISSION_SETTING } from './session/session-settings.js';
export { ToolSearchArguments } from './session/tool-search.tool.js';
