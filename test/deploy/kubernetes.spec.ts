import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { POOLS } from '#contracts';
import { createMetrics } from '#observability';
import { readGatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { schemaFaults, typeFaults, type Manifest } from './kubernetes-schemas.js';

const BASE = 'deploy/kubernetes/base';
/** `preStop` of a gateway, and what closes after the drain. */
const REST_MS = 15_000;

const Container = z.object({
  image: z.string(),
  args: z.array(z.string()),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }).optional() })).default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() })),
  env: z.array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() })),
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
  securityContext: z.unknown(),
  livenessProbe: z.object({}),
  readinessProbe: z.object({}),
  startupProbe: z.object({}),
});
const Workload = z.object({
  kind: z.enum(['Deployment', 'StatefulSet']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        automountServiceAccountToken: z.boolean(),
        serviceAccountName: z.string(),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({ runAsNonRoot: z.boolean(), seccompProfile: z.object({ type: z.string() }) }),
        containers: z.array(Container),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
const Budget = z.object({
  kind: z.literal('PodDisruptionBudget'),
  spec: z.object({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
});
const Autoscaler = z.object({
  kind: z.literal('HorizontalPodAutoscaler'),
  spec: z.object({ scaleTargetRef: z.object({ name: z.string() }), minReplicas: z.number(), metrics: z.array(z.unknown()) }),
});
const Scaled = z.object({
  kind: z.literal('ScaledObject'),
  spec: z.object({
    scaleTargetRef: z.object({ name: z.string() }),
    triggers: z.array(z.object({ metadata: z.object({ query: z.string() }) })),
  }),
});
const Ingress = z.object({
  spec: z.object({
    ingress: z.array(
      z.object({
        from: z.array(
          z.object({
            podSelector: z.object({
              matchLabels: z.record(z.string(), z.string()).optional(),
              matchExpressions: z.array(z.object({ values: z.array(z.string()) })).optional(),
            }),
          }),
        ),
      }),
    ),
  }),
});
const ExternalMetric = z.object({
  external: z.object({ metric: z.object({ name: z.string(), selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }) }),
});

function kustomize(path: string): Manifest[] {
  const run = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (run.error) throw new Error('kubectl is missing. Install it: apt-get install kubernetes-client', { cause: run.error });
  if (run.status !== 0) throw new Error(`kubectl kustomize ${path}:\n${run.stderr}`);
  return parseAllDocuments(run.stdout).map((document) => unwrapped(document.toJS() as Manifest));
}

/** Kustomize breaks long values of Secrets into lines, which Kubernetes takes and its schema does not. */
function unwrapped(manifest: Manifest): Manifest {
  const secret = z.looseObject({ kind: z.literal('Secret'), data: z.record(z.string(), z.string()) }).safeParse(manifest).data;
  if (secret === undefined) return manifest;
  const data = Object.fromEntries(Object.entries(secret.data).map(([name, value]) => [name, value.replaceAll('\n', '')]));
  return Object.assign(manifest, { data });
}

describe('the Kustomize base', () => {
  let manifests: Manifest[] = [];
  const workloads = () => manifests.flatMap((manifest) => Workload.safeParse(manifest).data ?? []);

  beforeAll(() => {
    manifests = kustomize(BASE);
  });

  it('renders everything that each part needs in the Kustomize base', () => {
    const kinds: Record<string, number> = {};
    for (const { kind } of manifests) kinds[kind] = (kinds[kind] ?? 0) + 1;
    expect(kinds).toEqual({
      ConfigMap: 3,
      Deployment: 2 + POOLS.length,
      HorizontalPodAutoscaler: 1,
      NetworkPolicy: 9,
      PersistentVolumeClaim: 3,
      PodDisruptionBudget: 1 + POOLS.length,
      Service: 3,
      ServiceAccount: 5,
      StatefulSet: 2,
    });
  });

  it('uses only known fields of Kubernetes in the Kustomize base, with valid values', async () => {
    expect(typeFaults(manifests)).toEqual([]);
    expect(await schemaFaults(manifests)).toEqual([]);
  });

  it('finds an unknown field and a value of a wrong type in a manifest', async () => {
    const [deployment] = manifests.filter((manifest) => manifest.kind === 'Deployment');
    const misspelt = structuredClone(deployment) as Manifest & { spec: { template: { spec: Record<string, unknown> } } };
    misspelt.spec.template.spec['serviceAcountName'] = 'x';
    expect(typeFaults([misspelt])).toEqual([expect.stringContaining('serviceAcountName')]);
    const wrong = { ...structuredClone(deployment), spec: { replicas: 'two' } } as Manifest;
    expect(await schemaFaults([wrong])).not.toEqual([]);
  });

  it('runs every pod of the Kustomize base under the restricted profile, without a token, with probes and limits', () => {
    expect(workloads()).toHaveLength(4 + POOLS.length);
    for (const { metadata, spec } of workloads()) {
      const pod = spec.template.spec;
      expect([
        metadata.name,
        pod.automountServiceAccountToken,
        pod.securityContext.runAsNonRoot,
        pod.securityContext.seccompProfile.type,
      ]).toEqual([metadata.name, false, true, 'RuntimeDefault']);
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(Object.keys(container.resources.limits)).toContain('memory');
      }
    }
  });

  it('gives pods of the Kustomize base the time to drain', () => {
    const worker = readWorkerConfig({});
    const gateway = readGatewayConfig({ TOOLYARD_API_KEY: 'key-of-sixteen-letters' });
    const drainMs = Math.max(worker.drainMs + worker.stopGraceMs, gateway.drainMs);
    for (const { spec } of workloads()) expect(spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drainMs + REST_MS);
  });

  it('lets an eviction take one pod at a time of gateways and of the workers of a pool', () => {
    const budgets = manifests.flatMap((manifest) => Budget.safeParse(manifest).data ?? []);
    const covered = budgets.map(({ spec }) =>
      workloads()
        .filter(({ spec: { template } }) =>
          Object.entries(spec.selector.matchLabels).every(([name, value]) => template.metadata.labels[name] === value),
        )
        .map(({ metadata }) => metadata.name)
        .join(),
    );
    expect(covered.sort()).toEqual(['toolyard-gateway', ...POOLS.map((pool) => `toolyard-worker-${pool}`)].sort());
  });

  it('gives every pool workers of its own in the Kustomize base', () => {
    for (const pool of POOLS) {
      const worker = workloads().find((workload) => workload.metadata.name === `toolyard-worker-${pool}`);
      const env = Object.fromEntries(worker?.spec.template.spec.containers[0]?.env.map(({ name, value }) => [name, value]) ?? []);
      expect([env['WORKER_POOLS'], env['WORKER_CONCURRENCY']]).toEqual([pool, expect.stringMatching(new RegExp(`^${pool}=\\d+$`))]);
    }
  });

  it('sets only variables in the Kustomize base that the apps read', () => {
    const files = ['gateway/src/platform/gateway', 'worker/src/platform/worker', 'projector/src/projector'];
    const read = files.map((path) => readFileSync(`apps/${path}.config.ts`, 'utf8')).join('\n');
    const names = workloads()
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env.map(({ name }) => name)));
    expect(names.length).toBeGreaterThan(10);
    expect([...new Set(names)].filter((name) => !new RegExp(`\\b${name}\\b`).test(read))).toEqual([]);
  });

  it('gives every app of the Kustomize base the same archive, writable by the projector only', () => {
    const apps = workloads().filter(({ kind }) => kind === 'Deployment');
    expect(apps).toHaveLength(2 + POOLS.length);
    for (const { metadata, spec } of apps) {
      const [container] = spec.template.spec.containers;
      const mount = container?.volumeMounts.find(({ name }) => name === 'archive');
      const from = container?.envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []);
      const readOnly = metadata.name === 'toolyard-projector' ? undefined : true;
      expect([metadata.name, from, mount]).toEqual([
        metadata.name,
        [expect.stringMatching(/^toolyard-archive-/)],
        { name: 'archive', mountPath: '/archive', ...(readOnly && { readOnly }) },
      ]);
    }
    expect(archiveSettings(manifests)).toEqual({ ARCHIVE_URL: 'file:/archive' });
  });

  it('limits access to PostgreSQL to gateways, projectors and Grafana', () => {
    const policy = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'toolyard-postgres');
    const [rule] = Ingress.parse(policy).spec.ingress;
    const allowed = rule?.from.map(({ podSelector }) => [podSelector.matchLabels, podSelector.matchExpressions?.at(-1)?.values]);
    expect(allowed).toEqual([
      [undefined, ['gateway', 'projector']],
      [{ 'app.kubernetes.io/name': 'grafana' }, undefined],
    ]);
  });
});

describe('the overlays', () => {
  const overlay = (name: string) => kustomize(`deploy/kubernetes/overlays/${name}`);
  const known = metricNames();

  it.each(['example', 'adapter', 'keda', 's3'])('renders the overlay %s with known fields, all in one namespace', async (name) => {
    const manifests = overlay(name);
    expect(manifests.filter((manifest) => manifest.kind !== 'Namespace').map((manifest) => manifest.metadata.namespace)).not.toContain(
      undefined,
    );
    expect(typeFaults(manifests)).toEqual([]);
    expect(await schemaFaults(manifests)).toEqual([]);
  });

  it('puts the archive of the overlay s3 in a bucket, without a volume, with its keys in a Secret', () => {
    const manifests = overlay('s3');
    expect(archiveSettings(manifests)).toMatchObject({ ARCHIVE_URL: expect.stringMatching(/^s3:/), AWS_REGION: expect.any(String) });
    const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ metadata }) => metadata.name);
    expect(claims.sort()).toEqual(['toolyard-archive-key', 'toolyard-workspaces']);
    const volumes = manifests
      .flatMap((manifest) => Workload.safeParse(manifest).data ?? [])
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.spec.volumes.find(({ name }) => name === 'archive'));
    expect(volumes).toHaveLength(2 + POOLS.length);
    for (const volume of volumes) expect(volume).toEqual({ name: 'archive', emptyDir: { sizeLimit: '1Mi' } });
    expect(JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'))).not.toContain('AWS_SECRET_ACCESS_KEY');
  });

  it('scales the workers of each pool by that pool’s queue in the overlay adapter', () => {
    const autoscalers = overlay('adapter').flatMap((manifest) => Autoscaler.safeParse(manifest).data ?? []);
    for (const pool of POOLS) {
      const scaler = autoscalers.find(({ spec }) => spec.scaleTargetRef.name === `toolyard-worker-${pool}`);
      const metrics = scaler?.spec.metrics.map((metric) => ExternalMetric.parse(metric).external.metric) ?? [];
      expect(metrics).toHaveLength(2);
      for (const metric of metrics) {
        expect(metric.selector.matchLabels).toEqual({ pool });
        expect(known).toContain(metric.name);
      }
    }
  });

  it('scales the workers of each pool only by that pool’s queue in the overlay keda', () => {
    const manifests = overlay('keda');
    const scaled = manifests.flatMap((manifest) => Scaled.safeParse(manifest).data ?? []);
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(POOLS.map((pool) => `toolyard-worker-${pool}`).sort());
    const autoscalers = manifests.flatMap((manifest) => Autoscaler.safeParse(manifest).data ?? []);
    expect(autoscalers.map(({ spec }) => spec.scaleTargetRef.name)).toEqual(['toolyard-gateway']);
    for (const { spec } of scaled) {
      const pool = spec.scaleTargetRef.name.replace('toolyard-worker-', '');
      for (const { metadata } of spec.triggers) {
        const [, name = '', of] = /^max\((\w+)\{pool="(\w+)"\}\)$/.exec(metadata.query) ?? [];
        expect([known.includes(name), of]).toEqual([true, pool]);
      }
    }
  });
});

function archiveSettings(manifests: readonly Manifest[]): Readonly<Record<string, string>> | undefined {
  const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && /^toolyard-archive-[a-z0-9]+$/.test(metadata.name));
  return z.object({ data: z.record(z.string(), z.string()) }).safeParse(map).data?.data;
}

function metricNames(): string[] {
  const metrics = createMetrics({ role: 'gateway' });
  const names = metrics.registry.getMetricsAsArray().map((metric) => metric.name);
  metrics.close();
  return names;
}
