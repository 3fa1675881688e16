import { isInputRequiredResult, type InputRequiredResult } from '@modelcontextprotocol/client';
import { Json } from '#contracts';
import { Suspension, ToolError, type Resumed } from '#tool-sdk';
import { SamplingBudget, type OwnSampling, type SamplingContext } from './own-sampling.js';
import { answerOf, AskedMethod, givenAnswer, questionOf, type RoundState, type Sampled } from './question.js';
import { NOT_OFFERED, sampledIn } from './sampling.js';

const MAX_ROUNDS = 20;
/** Delay in milliseconds before the repetition of a call whose server requested nothing else. */
const AGAIN_MS = 1_000;

/** Parameters of a repeated call besides its arguments. */
export interface RoundParams {
  readonly requestState?: string;
  readonly inputResponses?: Record<string, never>;
}

export { isInputRequiredResult };

/**
 * Revision 2026-07-28: the server answered with questions. Suspends the call for the first that a person may be asked;
 * `undefined` when the call is to be repeated at once. @throws ToolError for what no person can answer
 */
export function firstRound(
  source: string,
  { inputRequests = {}, requestState }: Pick<InputRequiredResult, 'inputRequests' | 'requestState'>,
  round: number,
  sampled?: Sampled,
): RoundState {
  if (round >= MAX_ROUNDS) throw failed(`The MCP server ${source} asked ${MAX_ROUNDS} times without a result.`);
  const left = Object.entries(inputRequests).map(([key, { method, params }]) => {
    const known = AskedMethod.safeParse(method).data;
    if (known === undefined) throw failed(`The MCP server ${source} asks for ${method.slice(0, 100)}, which is not offered to it.`);
    return { key, method: known, params: Json.parse(params ?? null) };
  });
  return {
    kind: 'mcp.rounds',
    round: round + 1,
    ...(requestState === undefined ? {} : { requestState }),
    responses: {},
    ...(sampled === undefined ? {} : { sampled }),
    left,
  };
}

/** The state with the answers of the operator's model; as it is where there is none. @throws ToolError where the model gave none */
export async function sampledByOwn(state: RoundState, own: OwnSampling | undefined, ctx: SamplingContext): Promise<RoundState> {
  if (own === undefined) return state;
  const budget = new SamplingBudget(state.sampled);
  const responses = { ...state.responses };
  for (const { key, method, params } of state.left)
    if (method === 'sampling/createMessage') responses[key] = Json.parse(await own.answer(params, budget, ctx));
  const left = state.left.filter(({ method }) => method !== 'sampling/createMessage');
  return { ...state, responses, left, sampled: budget.used };
}

/** The state with the answer to its open question. @throws ToolError where a model gave none: the protocol has no answer for that */
export function withAnswer(source: string, state: RoundState, resumed: Resumed): RoundState {
  const [open, ...left] = state.left;
  if (open === undefined) return state;
  const given = givenAnswer(resumed);
  const answer = open.method === 'elicitation/create' ? answerOf(open.params, given) : sampledIn(given.value);
  if (answer === undefined) throw failed(`The MCP server ${source} asked for a model (${open.method}), and the MCP client declined.`);
  return { ...state, left, responses: { ...state.responses, [open.key]: Json.parse(answer) } };
}

/** Declines what people may not be asked. The suspension for the first question that may, or what the repeated call carries. @throws ToolError for a model that is not offered */
export function nextStep(
  source: string,
  state: RoundState,
  sampling: boolean,
): Suspension | { readonly params: RoundParams; readonly round: number } {
  const responses = { ...state.responses };
  for (const [index, { key, method, params }] of state.left.entries()) {
    const question = questionOf(source, { method, params }, sampling);
    if (typeof question !== 'string')
      return new Suspension({
        until: 'input',
        ...question,
        declinable: true,
        state: { ...state, responses, left: state.left.slice(index) },
      });
    if (method === 'sampling/createMessage')
      throw failed(`The MCP server ${source} asks for a model: ${question}.`, question === NOT_OFFERED);
    responses[key] = { action: 'decline' };
  }
  const isEmpty = Object.keys(responses).length === 0;
  const { requestState, round } = state;
  return {
    round,
    params: {
      ...(requestState === undefined ? {} : { requestState }),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answers of `answerOf`, stored as JSON in between
      ...(isEmpty ? {} : { inputResponses: responses as RoundParams['inputResponses'] & object }),
    },
  };
}

/** A server that only wants to be asked again is not asked in a tight loop. */
export function pause(state: RoundState): Suspension {
  return new Suspension({ resumeInMs: AGAIN_MS, state });
}

/** `needsModel`: the call may succeed with an MCP client that offers its model. */
function failed(message: string, needsModel = false): ToolError {
  return new ToolError('tool_failed', message, { retryable: false, ...(needsModel ? { missingCapability: 'sampling' } : {}) });
}
