import { successOf, type Approval, type Call, type CallEvent, type CallEventOf, type Result, type Waiting } from '#contracts';

/** Values stored outside the events, read by the caller. */
export interface StoredValues {
  readonly arguments?: Call['arguments'];
  readonly result?: Result;
}

/**
 * Folds the events of a call, oldest first, into the call. Updates, Progress and hook runs change nothing and may be left out.
 * The preview replaces values beside the log that are not given. Throws if the first event is not `call.submitted`.
 */
export function foldCall(events: readonly CallEvent[], values: StoredValues = {}): Call {
  const [first, ...others] = events;
  if (first?.type !== 'call.submitted')
    throw new Error(`The events of a call begin with ${first?.type ?? 'nothing'}; expected call.submitted.`);
  return others.reduce<Call>((call, event) => apply(call, event, values), submitted(first, values));
}

function submitted(event: CallEventOf<'call.submitted'>, values: StoredValues): Call {
  const { subject, time, tenantid, agentid, sessionid, data, erased } = event;
  const {
    tool,
    source,
    priority,
    labels,
    timeouts,
    decision,
    batchId,
    parentCallId,
    rootCallId,
    replayOf,
    scheduleId,
    toolCallId,
    purpose,
    userId,
    requestedTool,
    dialect,
    argumentsRedacted,
  } = data;
  const call: Call = {
    id: subject,
    tool,
    source,
    status: 'queued',
    arguments: values.arguments ?? data.arguments ?? data.argumentsRef?.preview ?? null,
    attempt: 0,
    priority,
    tenantId: tenantid,
    labels,
    timeouts,
    submittedAt: time,
    waiting: { reason: 'queued', detail: `Waits for a free worker of pool ${data.pool}.` },
    decision,
  };
  // Set one by one: every submission is answered by this, and an object with deleted members serializes slowly.
  if (erased !== undefined) call.erased = erased;
  if (argumentsRedacted !== undefined) call.argumentsRedacted = argumentsRedacted;
  if (sessionid !== undefined) call.sessionId = sessionid;
  if (agentid !== undefined) call.agentId = agentid;
  if (userId !== undefined) call.userId = userId;
  if (batchId !== undefined) call.batchId = batchId;
  if (parentCallId !== undefined) call.parentCallId = parentCallId;
  if (rootCallId !== undefined) call.rootCallId = rootCallId;
  if (replayOf !== undefined) call.replayOf = replayOf;
  if (scheduleId !== undefined) call.scheduleId = scheduleId;
  if (toolCallId !== undefined) call.toolCallId = toolCallId;
  if (purpose !== undefined) call.purpose = purpose;
  if (requestedTool !== undefined) call.requestedTool = requestedTool;
  if (dialect !== undefined) call.dialect = dialect;
  if (decision.risk !== undefined) call.risk = decision.risk;
  return call;
}

function apply(call: Call, event: CallEvent, values: StoredValues): Call {
  switch (event.type) {
    case 'call.approval_requested':
      return { ...call, status: 'waiting_approval', waiting: forApproval(event), approval: questionOf(event) };
    case 'call.approval_decided':
      return event.data.decision === 'allow'
        ? {
            ...withEdit(answered(call, event), event, values),
            status: 'queued',
            waiting: { reason: 'queued', detail: 'Approved; waits for a free worker.' },
          }
        : answered(call, event);
    case 'call.start':
      return { ...without(call, 'waiting'), status: 'running', attempt: event.attempt, startedAt: call.startedAt ?? event.time };
    case 'call.retry':
      return { ...call, status: 'queued', waiting: forRetry(event) };
    case 'call.input_requested':
      return { ...call, status: 'waiting_input', waiting: forInput(event) };
    case 'call.input_given':
      return { ...call, status: 'queued', waiting: { reason: 'queued', detail: 'It has its input; waits for a free worker.' } };
    case 'call.end':
      return ended(call, event, values);
    case 'call.submitted':
    case 'call.update':
    case 'call.progress':
    case 'call.hook':
    case 'call.turn':
    case 'call.cancel_requested':
      return call;
    default:
      return event satisfies never;
  }
}

function ended(call: Call, { time, data }: CallEventOf<'call.end'>, values: StoredValues): Call {
  const { outcome, error, resultRef } = data;
  const fullResult = values.result ?? data.result;
  const success = successOf(data, fullResult?.isError);
  const result = fullResult ?? (resultRef && gone(resultRef.preview, success.isError, resultRef.bytes, call.id));
  return {
    ...without(call, 'waiting'),
    status: 'ended',
    outcome,
    ...success,
    endedAt: time,
    ...(error === undefined ? {} : { error }),
    ...(result === undefined ? {} : { result }),
  };
}

/** Result in place of a stored value that has expired. */
function gone(preview: string, isError: boolean, originalBytes: number, callId: string): Result {
  return { content: [{ type: 'text', text: preview }], isError, truncated: { originalBytes, artifactUri: `/v1/calls/${callId}/output` } };
}

function forApproval({ time, data }: CallEventOf<'call.approval_requested'>): Waiting {
  return {
    reason: 'approval',
    detail: `Waits for a person to approve it: ${data.reasons.join('; ')}`,
    until: after(time, data.expiresInMs),
  };
}

function questionOf({ time, data }: CallEventOf<'call.approval_requested'>): Approval {
  const { reasons, digest, expiresInMs, options = [], trustOptions = [] } = data;
  return { reasons, options, trustOptions, digest, requestedAt: time, expiresAt: after(time, expiresInMs) };
}

function answered(call: Call, { time, actor, actorname, data }: CallEventOf<'call.approval_decided'>): Call {
  if (call.approval === undefined) return call;
  const { digest: _bound, edited, ...decided } = data;
  const editFacts = edited && { argumentsDigest: edited.argumentsDigest, changes: edited.changes, moreChanges: edited.moreChanges };
  const by = { by: actor, ...(actorname === undefined ? {} : { byName: actorname }) };
  return { ...call, approval: { ...call.approval, decided: { ...decided, ...by, at: time, ...(editFacts && { edited: editFacts }) } } };
}

/** Replaces the arguments by those of the approver. */
function withEdit(call: Call, { data: { edited } }: CallEventOf<'call.approval_decided'>, values: StoredValues): Call {
  if (edited === undefined) return call;
  const args = values.arguments ?? edited.arguments ?? edited.argumentsRef?.preview ?? null;
  return { ...without(call, 'argumentsRedacted'), arguments: args, ...(edited.argumentsRedacted && { argumentsRedacted: true }) };
}

function forRetry({ time, attempt, data }: CallEventOf<'call.retry'>): Waiting {
  const { reason, nextAttempt, delayMs, error } = data;
  const until = after(time, delayMs);
  switch (reason) {
    case 'suspended':
      if (data.until === 'children')
        return { reason, detail: `Waits for calls that it made, until ${until} at most, and holds no worker meanwhile.`, until };
      return { reason, detail: `Sleeps until ${until} and holds no worker meanwhile.`, until };
    case 'worker_drained':
      return { reason, detail: 'Its worker was shut down and handed it back; it waits for another one.' };
    case 'tool_failed':
    case 'run_timeout':
    case 'worker_lost': {
      const why = error === undefined ? reason : `${reason}: ${error.message}`;
      return {
        reason: 'retry_backoff',
        detail: `Attempt ${attempt} failed (${why}); attempt ${nextAttempt} begins after ${delayMs} ms.`,
        until,
      };
    }
    default:
      return reason satisfies never;
  }
}

function forInput({ time, attempt, data }: CallEventOf<'call.input_requested'>): Waiting {
  const { prompt, inputSchema, sampling, declinable, expiresInMs, resumeInMs } = data;
  return {
    reason: 'input',
    detail: prompt === undefined ? 'Waits for input, and holds no worker meanwhile.' : `Waits for input: ${prompt}`,
    until: after(time, resumeInMs ?? expiresInMs ?? 0),
    input: {
      attempt,
      ...(prompt === undefined ? {} : { prompt }),
      ...(inputSchema && { inputSchema }),
      ...(sampling !== undefined && { sampling }),
      ...(declinable && { declinable }),
      requestedAt: time,
    },
  };
}

function after(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

function without<K extends keyof Call>(call: Call, key: K): Omit<Call, K> {
  const { [key]: _left, ...rest } = call;
  return rest;
}
