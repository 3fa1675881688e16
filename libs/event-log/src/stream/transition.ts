import { keys, partitionOf } from '#redis';

/** `accept` is refused above maxmemory; `progress` is not, so that running calls can always finish. */
export type ScriptVariant = 'accept' | 'progress';

export type TransitionArgument = string | number | { readonly key: string };

/** Input of transition.lua for one transition; an argument with a `key` is passed in KEYS and referred to by its index. */
export interface Transition {
  readonly operation:
    | 'accept'
    | 'claim'
    | 'update'
    | 'progress'
    | 'hook'
    | 'turn'
    | 'renew'
    | 'defer'
    | 'retry'
    | 'suspend'
    | 'input'
    | 'wake'
    | 'end'
    | 'cancel'
    | 'held'
    | 'decide';
  readonly callId: string;
  readonly args: readonly TransitionArgument[];
  /** Set if, with `replicated`, the answer waits for replicas. */
  readonly durable: boolean;
}

/** Limits of one transition and of one run of the script. */
export const RUN_LIMITS = { transitions: 512, bytes: 1_048_576, transitionBytes: 262_144 } as const;

export function variantOf({ operation }: Transition): ScriptVariant {
  return operation === 'accept' ? 'accept' : 'progress';
}

/** Bytes of the transition's texts on the wire, without protocol overhead. */
export function bytesOf(transition: Transition): number {
  let bytes = transition.callId.length;
  for (const argument of transition.args) bytes += typeof argument === 'string' ? Buffer.byteLength(argument) : 16;
  return bytes;
}

/** KEYS and ARGV of one run over `transitions`; each partition and call occurs once. See the header of apply-transitions.lua. */
export function composeRun(transitions: readonly Transition[]): { keys: string[]; args: (string | number)[] } {
  const partitions = new Map<string, number>();
  const calls = new Map<string, number>();
  const partitionKeys: string[] = [];
  const callKeys: string[] = [];
  const callArgs: (string | number)[] = [];
  for (const { callId } of transitions) {
    if (calls.has(callId)) continue;
    const partition = partitionOf(callId);
    let index = partitions.get(partition);
    if (index === undefined) {
      index = partitions.size + 1;
      partitions.set(partition, index);
      partitionKeys.push(keys.log(partition), keys.seq(partition), keys.outbox(partition));
    }
    calls.set(callId, calls.size + 1);
    callKeys.push(keys.call(callId));
    callArgs.push(index, callId);
  }
  const allKeys = [...partitionKeys, ...callKeys];
  const args: (string | number)[] = [keys.cancelChannel(), partitions.size, calls.size, transitions.length, ...callArgs];
  for (const { operation, callId, args: own } of transitions) {
    args.push(operation, calls.get(callId) ?? 0);
    for (const argument of own) args.push(typeof argument === 'object' ? allKeys.push(argument.key) : argument);
  }
  return { keys: allKeys, args };
}
