import { charSet, type CharSet } from './char-set.js';

/**
 * A kind of token that says by its form that it is one: a fixed beginning, then a run of characters. Facts from the
 * documentation of those who issue them.
 */
export interface TokenShape {
  readonly prefixes: readonly string[];
  readonly body: CharSet;
  /** Least length of the run after the prefix. */
  readonly min: number;
  readonly isToken?: (body: string) => boolean;
}

const ALNUM = charSet(/[A-Za-z0-9]/);
const UPPER = charSet(/[A-Z0-9]/);
const URL64 = charSet(/[A-Za-z0-9_-]/);
const URL64_DOT = charSet(/[A-Za-z0-9_.-]/);
const BASE64 = charSet(/[A-Za-z0-9+/=]/);

/** Words with dashes are no keys: `sk-learn-style-guide`. */
const mixed = (body: string) => /\d/.test(body) && /[A-Za-z]/.test(body);
/** Checks without a regular expression, which would scan a long run once for each possible start of a token. */
const isWebToken = (body: string) => {
  const first = body.indexOf('.');
  const second = first < 10 ? -1 : body.indexOf('.', first + 1);
  const third = second === -1 ? -1 : body.indexOf('.', second + 1);
  return body.startsWith('.eyJ', first) && second - first >= 8 && (third === -1 ? body.length : third) - second > 4;
};
const twenty = (body: string) => body.length === 16;

export const TOKEN_SHAPES: readonly TokenShape[] = [
  // AWS access key ids, long-lived and temporary, and what goes with them
  { prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], body: UPPER, min: 16, isToken: twenty },
  // Toolyard: keys made by POST /v1/keys
  { prefixes: ['sk-toolyard-'], body: URL64, min: 43 },
  // GitHub: classic, OAuth, user-to-server, server-to-server, refresh; fine-grained
  { prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: URL64, min: 36 },
  { prefixes: ['github_pat_'], body: URL64, min: 36 },
  // GitLab: personal, deploy, runner, CI job, feed, trigger, agent
  { prefixes: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'glptt-', 'glagent-', 'gloas-'], body: URL64_DOT, min: 20 },
  // Slack: bot, user, app, refresh, workflow; the web hook is a secret, too
  {
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-', 'xapp-'],
    body: URL64_DOT,
    min: 10,
    isToken: (b) => /\d/.test(b),
  },
  { prefixes: ['hooks.slack.com/services/'], body: charSet(/[A-Za-z0-9/]/), min: 40 },
  // OpenAI, Anthropic, OpenRouter, DeepSeek and others that took over the form
  { prefixes: ['sk-'], body: URL64, min: 20, isToken: mixed },
  // Stripe: secret and restricted keys, web hook secrets
  { prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], body: ALNUM, min: 16 },
  // Google: API keys, OAuth access tokens, client secrets
  { prefixes: ['AIza'], body: URL64, min: 35 },
  { prefixes: ['ya29.'], body: URL64, min: 20 },
  { prefixes: ['GOCSPX-'], body: URL64, min: 20 },
  // JSON Web Tokens: three parts, the first two begin like JSON
  { prefixes: ['eyJ'], body: URL64_DOT, min: 30, isToken: isWebToken },
  // Registries: npm, PyPI, RubyGems, crates.io, Docker Hub
  { prefixes: ['npm_'], body: ALNUM, min: 36 },
  { prefixes: ['pypi-'], body: URL64, min: 50 },
  { prefixes: ['rubygems_'], body: ALNUM, min: 40 },
  { prefixes: ['dckr_pat_', 'dckr_oat_'], body: URL64, min: 20 },
  // Hugging Face, Replicate, Groq, xAI, Perplexity
  { prefixes: ['hf_', 'r8_', 'gsk_', 'xai-', 'pplx-'], body: ALNUM, min: 30 },
  // Clouds and their tools: DigitalOcean, Vault, Fly, Supabase, PlanetScale, Terraform-like, age, Azure storage
  { prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: ALNUM, min: 60 },
  { prefixes: ['hvs.', 'hvb.', 'hvr.'], body: URL64, min: 24 },
  { prefixes: ['FlyV1 '], body: charSet(/[A-Za-z0-9_+/=,-]/), min: 40 },
  { prefixes: ['sbp_', 'sb_secret_', 'pscale_tkn_', 'pscale_pw_'], body: URL64_DOT, min: 20, isToken: mixed },
  { prefixes: ['AGE-SECRET-KEY-1'], body: UPPER, min: 50 },
  { prefixes: ['AccountKey='], body: BASE64, min: 40 },
  // Mail, shops, trackers, messengers: SendGrid, Mailgun, Shopify, Linear, Notion, Figma, Postman, Sentry, New Relic, Telegram-like
  { prefixes: ['SG.'], body: URL64_DOT, min: 50, isToken: (b) => /^[\w-]{16,}\.[\w-]{16,}/.test(b) },
  { prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], body: ALNUM, min: 32 },
  { prefixes: ['lin_api_', 'lin_oauth_', 'ntn_', 'figd_', 'sntrys_', 'sntryu_'], body: URL64, min: 32 },
  { prefixes: ['PMAK-', 'NRAK-'], body: charSet(/[A-Za-z0-9-]/), min: 24 },
];
