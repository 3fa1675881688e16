import type { Workspace } from '#tool-sdk';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';
import { loadSuspension } from '../load-suspension.js';
import { loadArguments } from '../read-arguments.js';

/**
 * Loads the arguments, state and input of the last suspension, and egress rules, and opens the workspace with the paths that
 * the decision opens or denies.
 */
export const loadInputsStage: AttemptStage = {
  name: 'load_inputs',
  async run(run) {
    const { attempt, claimed, deps } = run;
    const { egress: egressDigest } = claimed.submitted;
    const [loaded, workspace, resumed, egress] = await Promise.all([
      loadArguments(attempt.callId, claimed.submitted, deps.blobs),
      openWorkspace(run),
      claimed.resumed && loadSuspension(attempt.callId, claimed.resumed, deps.blobs),
      egressDigest === undefined ? undefined : deps.egress.of(egressDigest),
    ]);
    run.inputs = { args: loaded.args, approved: loaded.approved, workspace, resumed, egress };
  },
};

async function openWorkspace({ claimed, deps }: AttemptRun): Promise<Workspace> {
  const { meta, submitted } = claimed;
  const { workspaces, files } = deps;
  const workspace = await workspaces.resolve(meta, submitted.host);
  return submitted.files === undefined ? workspace : files.of(workspace, workspaces.pathOf(meta), meta.tool, submitted.files);
}
