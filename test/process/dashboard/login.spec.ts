import { afterAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import type { ActPage, CallEvent } from '#contracts';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { freePort } from '../../support/free-port.mjs';
import { CLIENT_ID, CLIENT_SECRET, TestLoginProvider } from '../../support/login-provider.js';

let provider: TestLoginProvider | undefined;
let port = 0;

const stage = dashboardHarness(
  async () => {
    port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    provider = await TestLoginProvider.start([`${baseUrl}/v1/login/callback`]);
    return {
      login: {
        name: 'Example',
        issuer: provider.issuer,
        clientId: CLIENT_ID,
        clientSecret: { secretEnv: 'LOGIN_SECRET' },
        scopes: ['openid', 'profile', 'email', 'roles'],
        baseUrl,
        roleMap: { operators: { scopes: ['submit', 'read', 'approve'] }, watchers: { scopes: ['read'] } },
      },
    };
  },
  () => ({ LOGIN_SECRET: CLIENT_SECRET, GATEWAY_PORT: String(port) }),
);

/** Keeps the states of the connection badge that the page has shown. */
const WATCH_CONNECTION = `
  connectionStates = [];
  new MutationObserver(() => connectionStates.push(document.querySelector('[data-connection]')?.dataset.connection))
    .observe(document.body, { subtree: true, childList: true, attributes: true });
`;

/** The subject of the first event that a stream of server-sent events brings, as a page opens it. */
const firstEventOf = (id: string) => `new Promise((resolve, reject) => {
  const stream = new EventSource('/v1/calls/${id}/events');
  stream.onerror = () => reject(new Error('the stream was refused'));
  stream.addEventListener('call.submitted', ({ data }) => {
    stream.close();
    resolve(JSON.parse(data).subject);
  });
})`;

afterAll(() => provider?.close());

it('signs a person in, returns to the page, approves a call by name, and signs out; an ended login leads to the login page', async () => {
  if (provider === undefined) throw new Error('the provider has not started');
  provider.person = { sub: 'ada-1', name: 'Ada Example', email: 'ada@example.com', email_verified: true, roles: ['operators', 'watchers'] };
  await stage.agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const { id } = (await stage.agent.submit('shell', { command: 'git push' }, { sessionId: 'careful' })).body;
  const context = await stage.browser.browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  page.on('pageerror', ({ message }) => stage.browser.faults.push(message));
  const cookie = async () => (await context.cookies()).find(({ name }) => name === 'toolyard-login');

  await page.goto(`${stage.url}/approvals/${id}`);
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(`${stage.url}/approvals/${id}`);
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.locator('[data-connection=live]').waitFor();
  expect(await cookie()).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  expect(await page.evaluate('document.cookie + JSON.stringify(sessionStorage)')).not.toContain((await cookie())?.value);

  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('button', { name: 'Allow now' }).waitFor();
  await page.keyboard.press('a');
  const ended = await stage.agent.ended(id);
  expect(ended.approval?.decided).toMatchObject({ decision: 'allow', byName: 'Ada Example <ada@example.com>' });
  await page.goto(`${stage.url}/calls/${id}`);
  await page.getByText('Approved by Ada Example <ada@example.com>').waitFor();
  // All of these with the cookie alone: the browser has no key.
  const saved = async (by: Locator) => {
    const [file] = await Promise.all([page.waitForEvent('download'), by.click()]);
    return readFileSync(await file.path(), 'utf8');
  };
  expect(await saved(page.getByRole('button', { name: 'Download' }))).toContain('not a git repository');
  await page.goto(`${stage.url}/calls?sessionId=careful`);
  const lines = (await saved(page.getByRole('button', { name: 'Export' }))).trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as CallEvent).subject)).toContain(id);
  expect(await page.evaluate<string>(firstEventOf(id))).toBe(id);
  await page.goto(`${stage.url}/approvals/${id}`);
  await page.getByText('Allowed by Ada Example <ada@example.com> (apikey:').waitFor();

  const { body: audit } = await stage.agent.get<ActPage>('/v1/audit?type=admin.signed_in');
  expect(audit.acts).toMatchObject([{ actorname: 'Ada Example <ada@example.com>' }]);
  await page.getByRole('button', { name: 'Your login' }).click();
  await page.getByText('Roles: operators, watchers').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');

  await page.evaluate(WATCH_CONNECTION);
  await stage.agent.request('POST', '/v1/logins/end', { subject: 'ada-1' });
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  expect(await page.evaluate('connectionStates')).not.toContain('closed');
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(`${stage.url}/approvals/${id}`);
  await page.locator('[data-connection=live]').waitFor();

  await page.getByRole('button', { name: 'Your login' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(new RegExp(`^${provider.issuer}/`));
  expect(await cookie()).toBeUndefined();
  await page.goto(`${stage.url}/live`);
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
});
