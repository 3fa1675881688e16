// Allowed imports between folders: apps -> libs -> contracts. Each rule carries its reason; `npm run boundaries` prints it.
const { readdirSync } = require('node:fs');
const path = require('node:path');

const TESTS = '(\\.spec|\\.contract|\\.property)\\.ts$|/testing/';
const lib = (...names) => `^libs/(${names.join('|')})/src/`;
/** Exports of the client beside its index.ts: the worker, and adapters, of which a program imports that of its agent SDK. */
const CLIENT_EXPORTS = '^libs/client/src/(adapters/[^/]+|worker/index)\\.ts$';
const SIBLINGS = [
  'archive',
  'attempts',
  'dialects',
  'event-log',
  'history',
  'hooks',
  'limits',
  'memory',
  'observability',
  'patterns',
  'platform',
  'policy',
  'queue',
  'redaction',
  'redis',
  'sandbox',
  'sealing',
  'sources',
  'sub-agents',
  'subject',
  'timing',
  'tool-sdk',
  'tools',
];

/** Imports that a library may have besides itself, contracts, observability, patterns and timing. */
const MAY_ALSO_SEE = {
  // A sub-agent is a source of one tool. Its turns are in the log, its journal is in Redis, it asks gateways by a queue and models by egress rules.
  'sub-agents': ['redis', 'event-log', 'queue', 'tool-sdk', 'sandbox', 'sources'],
  // The life of an attempt is written to the log, sent by the queue and kept alive over Redis; it runs a tool, its hooks and checks what was approved.
  attempts: ['redis', 'event-log', 'queue', 'redaction', 'hooks', 'policy', 'tool-sdk', 'dialects'],
  // Gateways translate names and arguments, workers results; neither knows which dialects there are.
  dialects: ['tool-sdk'],
  hooks: ['redis', 'sandbox'],
  platform: ['redis', 'event-log', 'redaction'],
  // Rules may name a tool as a known agent does.
  policy: ['dialects'],
  sandbox: ['tool-sdk'],
  // Catalog and pins of sources are in Redis; their programs and requests go through sandbox and egress policy.
  sources: ['redis', 'tool-sdk', 'sandbox'],
  // Memories of users are beside the history, in tables of their own.
  memory: ['history'],
  tools: ['tool-sdk', 'sandbox', 'memory'],
  queue: ['redis'],
  limits: ['redis'],
  'event-log': ['redis'],
  // Accepted events move from Redis to the archive, and are read from there.
  sealing: ['redis', 'event-log', 'archive'],
  history: ['redis'],
};

/** Features of the gateway, each of which may import those before it. */
const GATEWAY_FEATURES = [
  ['platform', 'Every feature stands on the configuration, connections and HTTP helpers here; they know no feature.'],
  ['auth', 'Keys and scopes are checked before anything is known of calls.'],
  ['skills', 'Skills are files that the operator writes; they know no call.'],
  ['governance', 'The configuration of policy, limits, hooks and redaction is the same for every use case.'],
  ['workers', 'Which workers and tools are available does not depend on any call.'],
  ['sessions', 'The state of a session is read by calls. What is done to the calls of a session belongs to batches.'],
  ['calls', 'Every other use case submits, reads or cancels calls; a call can be understood without them.'],
  ['approvals', 'An approval is of a call. Batches that keep approvals back register with `ApprovalDeferrals`.'],
  ['batches', 'A batch uses calls and approvals. Transports use batches.'],
  ['schedules', 'A schedule submits calls like any client. No other use case knows schedules.'],
  ['sources', 'Where tools come from is managed apart from calls, which see only the registry.'],
  ['gateway-tools', 'Tools whose work only gateways can do change sessions, schedules and calls like any client.'],
  ['sub-agents', 'Loops of sub-agents run in workers, and ask here for what only gateways know. No other feature knows them.'],
  ['foreign-workers', 'Workers in other languages run calls of the catalog; no other feature waits for them.'],
  ['views', 'Views are kept for the dashboard and name lists. No other feature knows them.'],
  ['webhooks', 'Webhooks read the log and send what tenants asked for. No feature waits for a receiver.'],
  ['streaming', 'Streams deliver the events of all features. No feature waits for a stream.'],
  ['mcp', 'The Model Context Protocol endpoint submits, reads, decides and cancels calls like any transport.'],
  ['operations', 'Health, metrics and traces look at every feature. No feature depends on being observed.'],
];

const featureRules = GATEWAY_FEATURES.slice(0, -1).map(([name, reason], index) => ({
  name: `gateway-${name}-sees-below`,
  comment: `apps/gateway/src/${name} imports no feature above it. ${reason}`,
  severity: 'error',
  from: { path: `^apps/gateway/src/${name}/`, pathNot: TESTS },
  to: {
    path: `^apps/gateway/src/(${GATEWAY_FEATURES.slice(index + 1)
      .map(([above]) => above)
      .join('|')})/`,
  },
}));

const siblingRules = SIBLINGS.map((name) => {
  const allowed = ['contracts', 'observability', 'patterns', 'timing', ...(MAY_ALSO_SEE[name] ?? []), name];
  return {
    name: `siblings-apart-${name}`,
    comment: `libs/${name} may see ${allowed.slice(0, -1).join(', ')} and nothing else of libs: apps put libraries together, so that each can be read, tested and replaced alone.`,
    severity: 'error',
    from: { path: lib(name), pathNot: TESTS },
    to: { path: '^libs/', pathNot: `^libs/(${allowed.join('|')})/` },
  };
});

/** Imports that a feature folder of the worker may have from other folders of the worker. */
const WORKER_FEATURES = {
  platform: [],
  sources: ['platform'],
  leases: ['platform'],
  recovery: ['platform'],
  background: ['platform'],
  attempts: ['platform', 'leases'],
  registry: ['platform', 'attempts'],
  operations: ['platform', 'leases', 'attempts'],
};

/** A folder without a rule could import anything. */
function assertListed(parent, listed) {
  const folders = readdirSync(path.join(__dirname, parent), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const missing = folders.map(({ name }) => name).filter((name) => !listed.includes(name));
  if (missing.length > 0)
    throw new Error(`${parent} has ${missing.join(', ')}: expected a rule for each folder in .dependency-cruiser.cjs`);
}

assertListed('libs', [...SIBLINGS, 'contracts', 'client']);
assertListed(
  'apps/gateway/src',
  GATEWAY_FEATURES.map(([name]) => name),
);
assertListed('apps/worker/src', Object.keys(WORKER_FEATURES));

const workerRules = Object.entries(WORKER_FEATURES).map(([name, allowed]) => ({
  name: `worker-${name}`,
  comment: `apps/worker/src/${name} may see ${['itself', ...allowed].join(', ')} and no other part of the worker. Imports between features go one way, so that a feature can be read without those that use it.`,
  severity: 'error',
  from: { path: `^apps/worker/src/${name}/`, pathNot: TESTS },
  to: { path: '^apps/worker/src/', pathNot: `^apps/worker/src/(${[name, ...allowed].join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other cannot be understood or loaded one after the other. Type-only cycles count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'libs-never-see-apps',
      comment: 'Apps compose libraries. A library that knows an app cannot serve another one.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-apart',
      comment: 'Gateway and worker meet in Redis, never in memory. Only standalone composes both, as it would over the wire.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: ['^apps/standalone/', TESTS] },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'contracts-know-nothing',
      comment: 'Contracts run in the browser and are what all agree on: they import zod and nothing of ours or of Node.',
      severity: 'error',
      from: { path: lib('contracts'), pathNot: TESTS },
      to: { path: ['^libs/', '^apps/', '^node_modules/'], pathNot: ['^libs/contracts/', '^node_modules/zod/'] },
    },
    {
      name: 'contracts-no-node',
      comment: 'Contracts run in the browser.',
      severity: 'error',
      from: { path: lib('contracts'), pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-knows-contracts-only',
      comment: 'The client is what programs outside and the dashboard are built on: it runs in browsers, and sees no more than they may.',
      severity: 'error',
      from: { path: lib('client'), pathNot: TESTS },
      to: { path: ['^libs/', '^apps/', '^node_modules/'], pathNot: ['^libs/(client|contracts)/', '^node_modules/(zod|json5|rxjs)/'] },
    },
    {
      name: 'client-without-rxjs',
      comment: 'RxJS is optional for users of the client: its own entry alone imports it.',
      severity: 'error',
      from: { path: lib('client'), pathNot: [TESTS, '^libs/client/src/adapters/rxjs\\.ts$'] },
      to: { path: '^node_modules/rxjs/' },
    },
    {
      name: 'client-no-node',
      comment: 'The client runs in browsers.',
      severity: 'error',
      from: { path: lib('client'), pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'subject-no-node',
      comment: 'Dashboard and command line tool share it: it runs in browsers.',
      severity: 'error',
      from: { path: lib('subject'), pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'cli-is-a-client',
      comment:
        'The command line tool can do what any program outside can: it goes through the client, and shows calls as the dashboard does. Only the doctor looks at a Redis too, the rebuild of the history works on log and database, and archives are read where they are.',
      severity: 'error',
      from: { path: '^apps/cli/', pathNot: ['^apps/cli/src/(doctor|history|archive)/', TESTS] },
      to: { path: '^libs/', pathNot: '^libs/(client|contracts|subject)/' },
    },
    ...siblingRules,
    ...featureRules,
    {
      name: 'gateway-features-below-composition',
      comment: 'main.ts, gateway.module.ts and http-server.ts put the features together; no feature imports them.',
      severity: 'error',
      from: { path: '^apps/gateway/src/[^/]+/', pathNot: TESTS },
      to: { path: '^apps/gateway/src/[^/]+\\.ts$' },
    },
    ...workerRules,
    {
      name: 'specification-for-tests',
      comment: 'The script makes the transitions; the TypeScript decider is its executable specification, which only tests run.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: [TESTS, '^libs/event-log/src/specification/'] },
      to: { path: '^libs/event-log/src/specification/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'public-exports-only',
      comment: 'What a library offers is what its index.ts exports by name. A deep import makes its inside public.',
      severity: 'error',
      from: { path: '^(libs|apps)/([^/]+)/' },
      to: { path: '^libs/[^/]+/src/', pathNot: ['^$1/$2/', '^libs/[^/]+/src/(index\\.ts$|testing/)', CLIENT_EXPORTS] },
    },
    {
      name: 'public-exports-only-for-tests',
      comment: 'Tests of the product use what a library exports, and what it keeps for tests below testing/.',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: '^libs/[^/]+/src/', pathNot: ['^libs/[^/]+/src/index\\.ts$', '^libs/[^/]+/src/testing/', CLIENT_EXPORTS] },
    },
    {
      name: 'api-tests-as-a-client',
      comment:
        'Files of test/api share an installation and see the product as its users do: through the client, the contracts, and what test/support offers.',
      severity: 'error',
      from: { path: '^test/api/' },
      to: { path: '^(apps|libs)/', pathNot: ['^libs/(contracts|client)/src/', '^libs/[^/]+/src/testing/'] },
    },
    {
      name: 'deciders-are-pure',
      comment:
        'Deciders get time, ids and randomness as values. They import contracts and their own pure neighbours, such as other deciders: no Redis, no Node, no packages.',
      severity: 'error',
      from: { path: ['^libs/policy/src/(decide\\.ts|rules/)', '\\.decider\\.ts$'], pathNot: TESTS },
      to: {
        path: '.',
        pathNot: [
          '^libs/(contracts|patterns)/src/index\\.ts$',
          '^libs/policy/src/',
          '^libs/event-log/src/(call/|event-log\\.port\\.ts)',
          '^libs/sub-agents/src/loop/',
          '\\.decider\\.ts$',
        ],
      },
    },
    {
      name: 'bullmq-behind-the-queue',
      comment: 'BullMQ is an implementation of our queue port; code that imports it directly starts to trust its jobs.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: ['^libs/queue/', TESTS] },
      to: { path: '^node_modules/bullmq/' },
    },
    {
      name: 'ioredis-behind-redis',
      comment: 'Every connection is made in libs/redis, where its options and its error listener are.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: ['^libs/(redis|queue)/', TESTS] },
      to: { path: '^node_modules/ioredis/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'matchers-behind-patterns',
      comment:
        'Patterns of users are compiled and matched in libs/patterns only, within its limits. A backtracking matcher freezes a process; a regular expression engine without limits does, too.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: ['^libs/patterns/', TESTS] },
      to: { path: '^node_modules/(@types/)?(picomatch|re2js|minimatch|micromatch)/' },
    },
    {
      name: 'prom-client-behind-observability',
      comment: 'Metrics are named in one file. Others emit telemetry events.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: '^libs/observability/' },
      to: { path: '^node_modules/prom-client/' },
    },
    {
      name: 'opentelemetry-behind-tracing',
      comment: 'Off means not loaded: libs/observability imports the SDK when tracing is on; everything else uses its port.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: '^libs/observability/src/tracing/(otel-tracing|monitored-span-exporter)\\.ts$' },
      to: { path: '^node_modules/@opentelemetry/' },
    },
    {
      name: 'dashboard-is-a-client',
      comment:
        'The dashboard runs in a browser and is a client like any other: what it knows comes from contracts and through the SDK, and it shows calls as the command line tool does.',
      severity: 'error',
      from: { path: '^apps/dashboard/src/' },
      to: { path: ['^libs/', '^apps/'], pathNot: ['^libs/(contracts|client|subject)/', '^apps/dashboard/'] },
    },
    {
      name: 'dashboard-no-node',
      comment: 'It runs in a browser.',
      severity: 'error',
      from: { path: '^apps/dashboard/src/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-tests-in-the-product',
      comment: 'Product code that imports a test or its support ships it.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: TESTS },
      to: { path: ['^test/', '\\.spec\\.ts$'] },
    },
    {
      name: 'no-dev-packages-in-the-product',
      comment: 'The image is installed with --omit=dev.',
      severity: 'error',
      // The dashboard is bundled when it is built.
      from: { path: '^(libs|apps)/.*\\.ts$', pathNot: [TESTS, '^apps/dashboard/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'resolvable',
      comment:
        'An import that resolves to nothing fails at start. What is built may not be there yet, and agent SDKs are installed by their test.',
      severity: 'error',
      from: { pathNot: '^test/deploy/agent-sdks/' },
      to: { couldNotResolve: true, pathNot: '/dist/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    exclude: { path: ['^dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.lua'],
    },
  },
};
