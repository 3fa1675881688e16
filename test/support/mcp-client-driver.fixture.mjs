// The client that the MCP conformance suite tests, as a program: it registers the server of the suite as a source of a
// running Toolyard, calls its tools there, and removes it. Last argument: the address of the server.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { TOOLYARD_URL, TOOLYARD_API_KEY, MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const url = process.argv.at(-1);
const name = `suite-${randomBytes(6).toString('hex')}`;

/** Looks at a source that fails with its token, until the driver gives up. */
const MOST_REFUSED_LOOKS = 50;

async function ask(method, path, body) {
  const response = await fetch(`${TOOLYARD_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOOLYARD_API_KEY}`, 'content-type': 'application/json', prefer: 'wait=20' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  console.log(method, path, response.status, text.slice(0, 300));
  return text === '' ? undefined : JSON.parse(text);
}

/** Lets the source have tokens, as a person on the dashboard does who agrees to everything. False where something was refused. */
async function authorize() {
  const { url, redirectUri } = await ask('POST', `/v1/sources/${name}/authorization`);
  let at = url;
  while (at !== undefined && !at.startsWith(redirectUri)) {
    const location = (await fetch(at, { redirect: 'manual' })).headers.get('location');
    at = location === null ? undefined : new URL(location, at).href;
  }
  if (at === undefined) return false;
  return (await ask('POST', '/v1/source-authorizations', { url: at })).authorization?.state === 'granted';
}

/** The tools of the source, once the worker has read them; it tries again after a failure. None where it gets no usable token. */
async function listed() {
  for (let refused = 0; refused < MOST_REFUSED_LOOKS;) {
    const { status, authorization } = await ask('GET', `/v1/sources/${name}`);
    if (status === 'ok') break;
    if (status === 'failed' && authorization?.state === 'needed' && !(await authorize())) return [];
    if (status === 'failed' && authorization?.state === 'granted') refused += 1;
    await sleep(100);
  }
  const { tools } = await ask('GET', '/v1/tools?format=full');
  return tools.filter(({ source }) => source === name);
}

const SAMPLES = { string: 'text', number: 1, integer: 1, boolean: true, object: {}, array: [] };
/** The required fields and those with a default, as in a form that a person sends as it is shown. */
const sample = ({ input: { required = [], properties = {} } }) => {
  const fields = new Set([...required, ...Object.keys(properties).filter((field) => properties[field].default !== undefined)]);
  return Object.fromEntries([...fields].map((field) => [field, properties[field]?.default ?? SAMPLES[properties[field]?.type] ?? 'text']));
};

/** Calls that the scenario requests of a client: the calls in it, or one of each tool. */
function callsOf(tools) {
  const { toolCalls } = JSON.parse(context);
  if (toolCalls !== undefined) return toolCalls.map((call) => ({ tool: `${name}__${call.name}`, arguments: call.arguments }));
  const [echo] = tools.filter(({ input }) => input.properties?.schema !== undefined);
  const [focal] = tools.filter(({ input }) => input.$defs !== undefined);
  if (echo !== undefined && focal !== undefined) return [{ tool: echo.name, arguments: { schema: focal.input } }];
  return tools.map((tool) => ({ tool: tool.name, arguments: sample(tool) }));
}

/** Waits for the End, and answers what the server asks as a person would. */
async function settled(call) {
  for (let now = call; now?.id !== undefined && now.status !== 'ended'; now = await ask('GET', `/v1/calls/${now.id}?wait=1`)) {
    const input = now.waiting?.input;
    if (now.status === 'waiting_input')
      await ask('POST', `/v1/calls/${now.id}/input`, { value: sample({ input: input?.inputSchema ?? {} }) });
  }
}

/** OAuth of the source: by a person; by client credentials with the issuer that an operator reads in the metadata of the server. */
async function authOf() {
  if (!scenario.startsWith('auth/')) return {};
  if (scenario !== 'auth/client-credentials-basic') {
    const { client_id: clientId, issuer } = JSON.parse(context);
    const registered = clientId === undefined ? {} : { clientId, issuer, clientSecret: { secretEnv: 'REGISTERED_SECRET' } };
    return { auth: { type: 'authorizationCode', ...registered } };
  }
  const metadata = await fetch(new URL(`/.well-known/oauth-protected-resource${new URL(url).pathname}`, url));
  const { authorization_servers: issuers } = await metadata.json();
  const { client_id: clientId } = JSON.parse(context);
  return { auth: { type: 'clientCredentials', issuer: issuers[0], clientId, clientSecret: { secretEnv: 'CONFORMANCE_SECRET' } } };
}

console.log(`scenario ${scenario} at ${url}`);
await ask('POST', '/v1/sources', { name, kind: 'mcp', url, ...(await authOf()) });
try {
  const tools = await listed();
  const names = new Set(tools.map((tool) => tool.name));
  for (const call of callsOf(tools)) {
    const short = call.tool.slice(name.length + 2);
    const submitted = { ...call, tool: names.has(call.tool) ? call.tool : short };
    await settled(await ask('POST', '/v1/calls', submitted));
    const { authorization } = await ask('GET', `/v1/sources/${name}`);
    if (authorization?.state === 'needed' && (await authorize())) await settled(await ask('POST', '/v1/calls', submitted));
  }
} finally {
  await ask('DELETE', `/v1/sources/${name}`);
}
