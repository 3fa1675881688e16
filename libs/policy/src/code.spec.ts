import { describe, expect, it } from '@jest/globals';
import { decide } from './decide.js';
import { factsOf, SUPERVISED, UNATTENDED, type Circumstances } from './testing/call-facts.js';

const repl = (language: string, code: string, circumstances: Circumstances = {}) =>
  decide(factsOf('repl', { language, code }, circumstances));
const readable: Circumstances['policy'] = { commands: { autoAllowReadonly: true, allowedCommands: ['.*'] } };

describe('code in another language than that of a shell', () => {
  it('evaluates code in a shell language as a shell command', () => {
    for (const language of ['bash', 'sh', 'shell']) {
      expect(repl(language, 'ls', { policy: { commands: { autoAllowReadonly: true } } }).effect).toBe('allow');
      expect(repl(language, 'rm -rf /', { posture: UNATTENDED }).effect).toBe('deny');
      expect(repl(language, 'rm x', { policy: { commands: { blockHighRisk: true } }, posture: UNATTENDED }).effect).toBe('deny');
    }
  });

  it('asks about code even if it resembles an allowed command', () => {
    for (const code of ['ls', 'cat', 'import os; os.remove("x")', '']) {
      expect(repl('python', code, { policy: readable, posture: SUPERVISED }).effect).toBe('ask');
      expect(repl('node', code, { policy: readable, posture: SUPERVISED }).effect).toBe('ask');
      expect(decide(factsOf('powershell', { command: code }, { policy: readable, posture: SUPERVISED })).effect).toBe('ask');
    }
    expect(repl('python', 'ls').trustOptions).toEqual([]);
    expect(repl('python', 'ls', { posture: UNATTENDED }).effect).toBe('allow');
  });

  it('refuses code if only listed commands may run', () => {
    const policy: Circumstances['policy'] = { commands: { denyByDefault: true, allowedCommands: ['.*'], engines: ['rules'] } };
    expect(repl('python', 'print(1)', { policy, posture: UNATTENDED }).effect).toBe('deny');
    expect(repl('python', 'print(1)', { profile: 'zeroclaw', policy: { commands: { allowlist: ['python'] } } }).effect).not.toBe('allow');
  });

  it('denies code when a text in it is a denied path, a blocked host or a denied pattern', () => {
    const posture = UNATTENDED;
    const denies = (code: string, policy: Circumstances['policy'], language = 'python') => repl(language, code, { posture, policy }).effect;
    expect(denies(`open('/etc/shadow').read()`, { paths: { forbidden: ['/etc'] } })).toBe('deny');
    expect(denies('require("fs").readFileSync(`/etc/shadow`)', { paths: { forbidden: ['/etc'] } }, 'node')).toBe('deny');
    expect(denies(`open('notes.md').read()`, { paths: { forbidden: ['/etc'] } })).toBe('allow');
    expect(denies(`get("https://evil.example/x")`, { egress: { blockedDomains: ['evil.example'] } })).toBe('deny');
    expect(denies('import subprocess', { commands: { deniedCommands: ['.*subprocess.*'] } })).toBe('deny');
    expect(denies(`os.system('rm -rf /')`, {})).toBe('deny');
  });
});
