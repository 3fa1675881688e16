import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { POOLS } from '#contracts';
import { createMetrics } from '#observability';
import { schemaFaults, typeFaults, type Manifest } from './kubernetes-schemas.js';

const BASE = 'deploy/kubernetes/base';

const Container = z.object({
  image: z.string(),
  args: z.array(z.string()),
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
      }),
    }),
  }),
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
const ExternalMetric = z.object({
  external: z.object({ metric: z.object({ name: z.string(), selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }) }),
});

function kustomize(path: string): Manifest[] {
  const run = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (run.error) throw new Error('kubectl is missing. Install it: apt-get install kubernetes-client', { cause: run.error });
  if (run.status !== 0) throw new Error(`kubectl kustomize ${path}:\n${run.stderr}`);
  return parseAllDocuments(run.stdout).map((document) => document.toJS() as Manifest);
}

describe('the Kustomize base', () => {
  let manifests: Manifest[] = [];
  const workloads = () => manifests.flatMap((manifest) => Workload.safeParse(manifest).data ?? []);

  beforeAll(() => {
    manifests = kustomize(BASE);
  });

  it('renders what every part needs', () => {
    const kinds: Record<string, number> = {};
    for (const { kind } of manifests) kinds[kind] = (kinds[kind] ?? 0) + 1;
    expect(kinds).toEqual({
      ConfigMap: 1,
      Deployment: 1 + POOLS.length,
      HorizontalPodAutoscaler: 1,
      NetworkPolicy: 6,
      PersistentVolumeClaim: 1,
      PodDisruptionBudget: 1,
      Service: 2,
      ServiceAccount: 3,
      StatefulSet: 1,
    });
  });

  it('has only fields that Kubernetes knows, with values of their types', async () => {
    expect(typeFaults(manifests)).toEqual([]);
    expect(await schemaFaults(manifests)).toEqual([]);
  });

  it('would be caught with an unknown field or a value of a wrong type', async () => {
    const [deployment] = manifests.filter((manifest) => manifest.kind === 'Deployment');
    const misspelt = structuredClone(deployment) as Manifest & { spec: { template: { spec: Record<string, unknown> } } };
    misspelt.spec.template.spec['serviceAcountName'] = 'x';
    expect(typeFaults([misspelt])).toEqual([expect.stringContaining('serviceAcountName')]);
    const wrong = { ...structuredClone(deployment), spec: { replicas: 'two' } } as Manifest;
    expect(await schemaFaults([wrong])).not.toEqual([]);
  });

  it('runs every pod under the restricted profile, without a token, with probes and limits', () => {
    expect(workloads()).toHaveLength(2 + POOLS.length);
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
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30);
    }
  });

  it('gives every pool workers of its own', () => {
    for (const pool of POOLS) {
      const worker = workloads().find((workload) => workload.metadata.name === `toolyard-worker-${pool}`);
      const env = Object.fromEntries(worker?.spec.template.spec.containers[0]?.env.map(({ name, value }) => [name, value]) ?? []);
      expect([env['WORKER_POOLS'], env['WORKER_CONCURRENCY']]).toEqual([pool, expect.stringMatching(new RegExp(`^${pool}=\\d+$`))]);
    }
  });

  it('sets only variables that the apps read', () => {
    const read = ['gateway', 'worker'].map((app) => readFileSync(`apps/${app}/src/platform/${app}.config.ts`, 'utf8')).join('\n');
    const names = workloads()
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env.map(({ name }) => name)));
    expect(names.length).toBeGreaterThan(10);
    expect([...new Set(names)].filter((name) => !new RegExp(`\\b${name}\\b`).test(read))).toEqual([]);
  });
});

describe('the overlays', () => {
  const overlay = (name: string) => kustomize(`deploy/kubernetes/overlays/${name}`);
  const known = metricNames();

  it.each(['example', 'adapter', 'keda'])('%s renders with known fields, all in one namespace', async (name) => {
    const manifests = overlay(name);
    expect(manifests.filter((manifest) => manifest.kind !== 'Namespace').map((manifest) => manifest.metadata.namespace)).not.toContain(
      undefined,
    );
    expect(typeFaults(manifests)).toEqual([]);
    expect(await schemaFaults(manifests)).toEqual([]);
  });

  it('adapter scales the workers of each pool by that pool’s queue', () => {
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

  it('keda does the same, and nothing else scales those workers', () => {
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

function metricNames(): string[] {
  const metrics = createMetrics({ role: 'gateway' });
  const names = metrics.registry.getMetricsAsArray().map((metric) => metric.name);
  metrics.close();
  return names;
}
