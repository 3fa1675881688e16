import { startRecordedAnswers } from './recorded-answers.mjs';
import { startValidatingProxy } from './validating-proxy.mjs';

/** Starts a validating proxy for all files of the run. The build exists by then: it belongs to the set-up of all projects. */
export default async function validatedSetup() {
  const { openApiDocument } = await import('../../../dist/apps/gateway/src/operations/docs/openapi.js');
  const upstream = await startRecordedAnswers();
  const proxy = await startValidatingProxy(openApiDocument('0.0.0'), upstream.url);
  globalThis.validatingProxy = { upstream, proxy };
  process.env.RECORDED_ANSWERS_URL = upstream.url;
  process.env.VALIDATING_PROXY_URL = proxy.url;
}
