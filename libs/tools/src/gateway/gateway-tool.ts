import { Optional } from '@nestjs/common';
import type { ToolContext, ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from './tool-gateway.port.js';

/** Tool whose work a gateway does: its class has the schema and the checks, a service in apps/gateway/src/gateway-tools the rest. */
export abstract class GatewayTool {
  constructor(@Optional() private readonly gateway: ToolGateway = new NoToolGateway()) {}

  run(args: object, ctx: ToolContext): Promise<ToolOutput> {
    return this.gateway.run(ctx, args);
  }
}
