import { randomBytes } from 'node:crypto';
import { ProblemError, type JsonValue, type SubmitCallBody, type TrustOption } from '#contracts';
import { escapeInvisibleJson, escapeInvisibleText, MOST_SECRETS, type Redactor } from '#redaction';
import type { TenantRedaction } from '../../governance/tenant-redaction.js';
import type { EvaluatedCall } from './evaluated-call.js';
import type { NewCallInput } from './new-call.js';

/** Submission in a form that may be stored and shown. */
export interface RedactedCall {
  readonly body: SubmitCallBody;
  readonly evaluated: EvaluatedCall;
  /** Submitted arguments, if the redacted ones differ. Sent to the worker only. */
  readonly secretArguments?: JsonValue;
}

/** Quotation in messages of JSON.parse, which may contain half of a secret. */
const QUOTED_BY_PARSER = /,? (?:\.\.\.)?".{0,60}?"(?:\.\.\.)? is not valid JSON/s;

/** Submission in a form that may be stored and shown, and the secret part for its worker. */
export function redactSubmission(
  { redactor, settingsDigest }: Pick<TenantRedaction, 'redactor' | 'settingsDigest'>,
  body: SubmitCallBody,
  call: EvaluatedCall,
): Omit<RedactedCall, 'secretArguments'> & Pick<NewCallInput, 'secret' | 'safety'> {
  const redacted = redactCall(redactor, body, call);
  const { secretArguments } = redacted;
  const secret = secretArguments === undefined ? undefined : { salt: randomBytes(16).toString('hex'), arguments: secretArguments };
  return { body: redacted.body, evaluated: redacted.evaluated, secret, safety: settingsDigest };
}

/** Call without secrets; invisible characters are escaped if it needs approval. Pure. */
export function redactCall(redactor: Redactor, body: SubmitCallBody, evaluated: EvaluatedCall): RedactedCall {
  const shown = withoutSecrets(redactor, body, evaluated);
  return evaluated.decision.effect === 'ask' && evaluated.rejection === undefined ? withHiddenTextShown(shown, evaluated.args) : shown;
}

/**
 * Escapes characters that a reader cannot see, but a shell or a model can, in the arguments and in texts about them. The tool
 * gets the submitted arguments. Trust options with such characters are not offered: a person could not read the grant.
 */
function withHiddenTextShown({ body, evaluated, secretArguments }: RedactedCall, asSubmitted: JsonValue): RedactedCall {
  const args = escapeInvisibleJson(evaluated.args);
  const { decision, purpose } = evaluated;
  const { trustOptions, reasons } = decision;
  const submitted = secretArguments ?? (args === evaluated.args ? undefined : asSubmitted);
  return {
    body: { ...body, labels: Object.fromEntries(Object.entries(body.labels).map(([name, text]) => [name, escapeInvisibleText(text)])) },
    evaluated: {
      ...evaluated,
      args,
      ...(purpose === undefined ? {} : { purpose: escapeInvisibleText(purpose) }),
      decision: {
        ...decision,
        reasons: reasons.map((reason) => ({ ...reason, reason: escapeInvisibleText(reason.reason) })),
        ...(trustOptions === undefined ? {} : { trustOptions: trustOptions.filter((option) => escapeInvisibleJson(option) === option) }),
      },
    },
    ...(submitted === undefined ? {} : { secretArguments: submitted }),
  };
}

/**
 * Redacts the arguments and, if they contain secrets, also the texts about them. Trust options that contain a secret are not
 * offered: permanent grants hold no secrets. Paths outside the workspace that contain a secret are not opened. Pure.
 */
function withoutSecrets(redactor: Redactor, body: SubmitCallBody, evaluated: EvaluatedCall): RedactedCall {
  const { value, secrets } = redactor.json(evaluated.args);
  assertFew(secrets);
  const withSecrets = secrets.length > 0;
  const by = withSecrets ? redactor.withSecrets(secrets) : redactor;
  // Redacts a secret of one argument in all others.
  const again = withSecrets ? by.json(evaluated.args) : undefined;
  assertFew(again?.secrets ?? []);
  const args = again?.value ?? value;
  const labels = Object.keys(body.labels).length === 0 ? body.labels : by.json(body.labels).value;
  const { purpose, hookFeedback } = evaluated;
  const withTexts =
    purpose === undefined && hookFeedback === undefined
      ? evaluated
      : {
          ...evaluated,
          ...(purpose === undefined ? {} : { purpose: by.rawText(purpose) }),
          ...(hookFeedback === undefined ? {} : { hookFeedback: by.rawText(hookFeedback) }),
        };
  const toolCallId = body.toolCallId === undefined ? undefined : by.identifier(body.toolCallId);
  const isShown = labels === body.labels && toolCallId === body.toolCallId;
  const shownBody = isShown ? body : { ...body, labels, ...(toolCallId === undefined ? {} : { toolCallId }) };
  // Redacts rejections too: they may quote input that was no argument, such as malformed JSON or an unknown tool's name.
  if (!withSecrets)
    return { body: shownBody, evaluated: evaluated.rejection === undefined ? withTexts : withoutQuotedSecrets(by, withTexts) };
  return {
    body: shownBody,
    evaluated: { ...withoutQuotedSecrets(by, withTexts), args },
    ...(args === evaluated.args ? {} : { secretArguments: evaluated.args }),
  };
}

/** @throws ProblemError for so many secrets that what follows them is removed unseen: approvers and hooks could not see it */
function assertFew(secrets: readonly string[]): void {
  if (secrets.length < MOST_SECRETS) return;
  throw new ProblemError('invalid_request', `Expected fewer than ${MOST_SECRETS} secrets in the arguments: submit the work in parts`);
}

/** Checks each text of the option, and the option as a whole. */
function holdsNone(redactor: Redactor, option: TrustOption): boolean {
  const text = JSON.stringify(option);
  return redactor.json(option).value === option && redactor.text(text) === text;
}

function withoutQuotedSecrets(redactor: Redactor, evaluated: EvaluatedCall): EvaluatedCall {
  const text = (quoting: string) => redactor.rawText(quoting.replace(QUOTED_BY_PARSER, ' is not valid JSON'));
  const { decision, rejection, requestedTool, tool, files } = evaluated;
  const { trustOptions, reasons } = decision;
  return {
    ...evaluated,
    ...(files?.opened === undefined
      ? {}
      : { files: { ...files, opened: files.opened.filter(({ path }) => redactor.text(path) === path) } }),
    requestedTool: tool === undefined ? text(requestedTool) : requestedTool,
    decision: {
      ...decision,
      reasons: reasons.map((reason) => ({ ...reason, reason: text(reason.reason) })),
      ...(trustOptions === undefined ? {} : { trustOptions: trustOptions.filter((option) => holdsNone(redactor, option)) }),
    },
    ...(rejection === undefined
      ? {}
      : {
          rejection: {
            ...rejection,
            error: {
              ...rejection.error,
              message: text(rejection.error.message),
              ...(rejection.error.errors === undefined
                ? {}
                : { errors: rejection.error.errors.map(({ pointer, message }) => ({ pointer: text(pointer), message: text(message) })) }),
            },
            ...(rejection.text === undefined ? {} : { text: text(rejection.text) }),
          },
        }),
  };
}
