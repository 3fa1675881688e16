export { ToolsModule } from './tools.module.js';
export { WEB_ENV } from './web/web.config.js';
