import { Injectable } from '@nestjs/common';
import { RedactionConfigService } from '../../governance/redaction-config.service.js';
import { redactSubmission } from './redact-call.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Removes secrets from all stored and shown data. The worker gets them separately from the log. */
@Injectable()
export class RedactStage implements AdmissionStage {
  readonly name = 'redact';

  constructor(private readonly redaction: RedactionConfigService) {}

  run(submission: Submission): void {
    const redacted = redactSubmission(this.redaction.of(submission.principal.tenantId), submission.body, submission.evaluated);
    submission.body = redacted.body;
    submission.evaluated = redacted.evaluated;
    submission.secret = redacted.secret;
    submission.redactionSettings = redacted.safety;
  }
}
