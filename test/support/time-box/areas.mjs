/**
 * Folders of the product and the thorough test files about them. `*.modes.spec.ts` and `*.race.spec.ts` of a library belong to
 * its own folder and are not listed.
 * @type {readonly (readonly [folder: string, tests: RegExp])[]}
 */
export const AREAS = [
  ['apps/cli/', /cli|doctor|worker-check|change/],
  ['apps/dashboard/', /process\/dashboard/],
  ['apps/examples/', /deploy\/(chat-approvals|guides|readme|agent-sdks)|python-client/],
  [
    'apps/gateway/',
    /faults\/(approval-restart|batch|client-cut|config-reload|gateway-killed|input-killed|list-flood|schedule|stops|webhook)/,
  ],
  [
    'apps/gateway/',
    /process\/(bad-input|batch|bundle|child|early|foreign|http|jwt|key|limits|login|metrics|no-keys|openapi|quer|quot|releases|socket|stream|system|webhook)/,
  ],
  ['apps/gateway/src/mcp/', /mcp/],
  ['apps/gateway/src/operations/', /validated|deploy\/(generated-clients|monitor|alert|history-board)|readiness/],
  ['apps/projector/', /faults\/(archive|archiver|history|older-history|projector|retained)/],
  ['apps/standalone/', /standalone|data-folder|private-postgres|copy-as|deploy\/(packages|readme|backup)/],
  ['apps/worker/', /faults\/(background|cancel|foreign-worker|memory-guard|rolling|runaway|worker)|every-tool/],
  ['apps/worker/', /process\/(expired|own-tools|plugins|quote|start-waits|tool-readiness|traces|worker)/],
  ['deploy/', /test\/deploy/],
  ['libs/sub-agents/', /sub-agents|agent-sdks/],
  ['libs/archive/', /archive|erase|erasure|export/],
  ['libs/attempts/', /faults\/(background|cancel|input|redis-full|worker)/],
  ['libs/client/', /client|deploy\/(agent-sdks|packages)|foreign-worker/],
  ['libs/contracts/', /deploy\/(generated-clients|guides)|every-tool/],
  ['libs/dialects/', /tool-examples|every-tool/],
  ['libs/event-log/', /cluster|failover|queue-lost|redis-|replica|sentinel|gateway-killed|worker-killed/],
  ['libs/hooks/', /hooks/],
  ['libs/history/', /history|projector|database|calls-by-risk|retained|list-flood/],
  ['libs/limits/', /limits/],
  ['libs/memory/', /memory/],
  ['libs/observability/', /monitor|alert/],
  ['libs/policy/', /posture|approval|file-access|policy|patterns|process\/dashboard\/approvals/],
  ['libs/redaction/', /safety/],
  ['libs/queue/', /queue|redis-killed|rolling/],
  ['libs/redis/', /cluster|failover|redis-|sentinel|replica/],
  ['libs/sandbox/', /hostile-web|inherited|safety|runaway|remote|shell|every-tool|browser-tool/],
  ['libs/sealing/', /archive|seal|erasure|retained/],
  ['libs/sources/', /mcp|source|bridged|openapi/],
  ['libs/subject/', /process\/dashboard|cli/],
  ['libs/tools/', /tool|shell|memory|browser|hostile-web|capabilities/],
];
