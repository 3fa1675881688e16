import { expect, it } from '@jest/globals';
import type { ToolSubject } from '#contracts';
import { capabilityProfileOf } from './capability-profile.js';

const path = (access: 'read' | 'write'): ToolSubject => ({ kind: 'path', argument: 'path', access });

it.each<[string, ToolSubject[]]>([
  ['none', []],
  ['file_read_only', [path('read')]],
  ['file_read_write', [path('read'), path('write')]],
  ['file_read_only+web', [{ kind: 'url', argument: 'url' }, path('read')]],
])('gives the capability profile %s by what a tool touches: %#', (profile, subjects) => {
  expect(capabilityProfileOf(subjects)).toBe(profile);
});
