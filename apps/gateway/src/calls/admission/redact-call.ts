import { randomBytes } from 'node:crypto';
import type { JsonValue, SubmitCallBody, TrustOption } from '#contracts';
import { escapeInvisibleJson, escapeInvisibleText, type Redactor } from '#redaction';
import type { TenantRedaction } from '../../governance/tenant-redaction.js';
import type { EvaluatedCall } from './evaluated-call.js';
import type { NewCallInput } from './new-call.js';

/** A submission as it may be stored and shown. */
export interface RedactedCall {
  readonly body: SubmitCallBody;
  readonly evaluated: EvaluatedCall;
  /** The arguments as submitted, when the redacted ones differ. Only the worker gets them. */
  readonly secretArguments?: JsonValue;
}

/** JSON.parse quotes part of a malformed text, which may be half of a secret. */
const QUOTED_BY_PARSER = /,? (?:\.\.\.)?".{0,60}?"(?:\.\.\.)? is not valid JSON/s;

/** The call as it may be stored and shown, and what its worker needs besides. */
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

/** The call without secrets and, when it needs approval, with invisible characters escaped. Pure. */
export function redactCall(redactor: Redactor, body: SubmitCallBody, judged: EvaluatedCall): RedactedCall {
  const shown = withoutSecrets(redactor, body, judged);
  return judged.decision.effect === 'ask' && judged.rejection === undefined ? withHiddenTextShown(shown, judged.args) : shown;
}

/**
 * Characters that a reader cannot see, but a shell or a model can, are escaped in the arguments and in texts about them.
 * The tool gets the arguments as submitted. Trust options with such characters are not offered: a person could not read
 * what they grant.
 */
function withHiddenTextShown({ body, evaluated: judged, secretArguments }: RedactedCall, asSubmitted: JsonValue): RedactedCall {
  const args = escapeInvisibleJson(judged.args);
  const { decision, purpose } = judged;
  const { trustOptions, reasons } = decision;
  const submitted = secretArguments ?? (args === judged.args ? undefined : asSubmitted);
  return {
    body: { ...body, labels: Object.fromEntries(Object.entries(body.labels).map(([name, text]) => [name, escapeInvisibleText(text)])) },
    evaluated: {
      ...judged,
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
 * Takes secrets out of everything that a call says: its arguments, and where they hold any also what was said about
 * them. Trust options that a secret is part of are not offered: what is granted for good holds no secrets. A path outside of
 * the workspace with a secret in it is not opened. Pure.
 */
function withoutSecrets(redactor: Redactor, body: SubmitCallBody, judged: EvaluatedCall): RedactedCall {
  const { value, secrets } = redactor.json(judged.args);
  const withSecrets = secrets.length > 0;
  const by = withSecrets ? redactor.withSecrets(secrets) : redactor;
  // What is secret in one place of the arguments is secret in all others.
  const args = withSecrets ? by.json(judged.args).value : value;
  const labels = Object.keys(body.labels).length === 0 ? body.labels : by.json(body.labels).value;
  const { purpose, hookFeedback } = judged;
  const said =
    purpose === undefined && hookFeedback === undefined
      ? judged
      : {
          ...judged,
          ...(purpose === undefined ? {} : { purpose: by.rawText(purpose) }),
          ...(hookFeedback === undefined ? {} : { hookFeedback: by.rawText(hookFeedback) }),
        };
  const toolCallId = body.toolCallId === undefined ? undefined : by.identifier(body.toolCallId);
  const isShown = labels === body.labels && toolCallId === body.toolCallId;
  const shownBody = isShown ? body : { ...body, labels, ...(toolCallId === undefined ? {} : { toolCallId }) };
  // Refusals may quote what was no argument yet, as in a broken text or an unknown tool's name.
  if (!withSecrets) return { body: shownBody, evaluated: judged.rejection === undefined ? said : withoutQuotedSecrets(by, said) };
  return {
    body: shownBody,
    evaluated: { ...withoutQuotedSecrets(by, said), args },
    ...(args === judged.args ? {} : { secretArguments: judged.args }),
  };
}

/** Checks each text of the option, and the option as a whole. */
function holdsNone(redactor: Redactor, option: TrustOption): boolean {
  const text = JSON.stringify(option);
  return redactor.json(option).value === option && redactor.text(text) === text;
}

function withoutQuotedSecrets(redactor: Redactor, judged: EvaluatedCall): EvaluatedCall {
  const text = (said: string) => redactor.rawText(said.replace(QUOTED_BY_PARSER, ' is not valid JSON'));
  const { decision, rejection, requestedTool, tool, files } = judged;
  const { trustOptions, reasons } = decision;
  return {
    ...judged,
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
