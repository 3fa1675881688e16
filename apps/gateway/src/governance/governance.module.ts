import { Module } from '@nestjs/common';
import { PolicyConfigService } from './policy-config.service.js';
import { LimitConfigService } from './limit-config.service.js';
import { HookConfigService } from './hook-config.service.js';
import { RedactionConfigService } from './redaction-config.service.js';
import { SourceConfigService } from './source-config.service.js';
import { StoredRules } from './stored-rules.service.js';
import { SkillsModule } from '../skills/skills.module.js';
import { WebhookConfigService } from './webhook-config.service.js';
import { ConfigReload } from './config-reload.service.js';

const shared = [
  PolicyConfigService,
  LimitConfigService,
  HookConfigService,
  RedactionConfigService,
  SourceConfigService,
  StoredRules,
  WebhookConfigService,
  ConfigReload,
];

/** Active configuration of policy, limits, hooks and redaction, and its reload. */
@Module({ imports: [SkillsModule], providers: [...shared], exports: [...shared, SkillsModule] })
export class GovernanceModule {}
