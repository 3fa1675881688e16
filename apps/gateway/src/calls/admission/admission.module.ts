import { Module } from '@nestjs/common';
import { GovernanceModule } from '../../governance/governance.module.js';
import { SessionsModule } from '../../sessions/sessions.module.js';
import { WorkersModule } from '../../workers/workers.module.js';
import { CallReader } from '../read/call-reader.service.js';
import { AcceptStage } from './accept.stage.js';
import { AdmissionTracer } from './admission-tracer.service.js';
import { BeforeHooks } from './before-hooks.service.js';
import { CallEvaluator } from './call-evaluator.service.js';
import { ChildCallService } from './child-call.service.js';
import { ComposeStage } from './compose.stage.js';
import { EffectivePolicyService } from './effective-policy.service.js';
import { EvaluateStage } from './evaluate.stage.js';
import { HooksStage } from './hooks.stage.js';
import { IdentifyStage } from './identify.stage.js';
import { LimitsStage } from './limits.stage.js';
import { LineageStage } from './lineage.stage.js';
import { MemoryStage } from './memory.stage.js';
import { AdmissionPipeline } from './pipeline.js';
import { RedactStage } from './redact.stage.js';
import { UnrunCalls } from './unrun-calls.service.js';
import { WatchStage } from './watch.stage.js';

const stages = [
  MemoryStage,
  LineageStage,
  EvaluateStage,
  IdentifyStage,
  HooksStage,
  LimitsStage,
  RedactStage,
  ComposeStage,
  WatchStage,
  AcceptStage,
];
const shared = [
  AdmissionPipeline,
  AdmissionTracer,
  BeforeHooks,
  CallEvaluator,
  CallReader,
  ChildCallService,
  EffectivePolicyService,
  UnrunCalls,
];

/** Stages of a submission until the call is in the log, and reading of calls. `pipeline.ts` has the order. */
@Module({ imports: [GovernanceModule, WorkersModule, SessionsModule], providers: [...shared, ...stages], exports: shared })
export class AdmissionModule {}
