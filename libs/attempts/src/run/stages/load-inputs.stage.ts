import type { Workspace } from '#tool-sdk';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';
import { loadArguments } from '../read-arguments.js';

/** Loads the arguments, and opens the workspace with the paths that the decision opens or denies. */
export const loadInputsStage: AttemptStage = {
  name: 'load_inputs',
  async run(run) {
    const { attempt, claimed, deps } = run;
    const [loaded, workspace] = await Promise.all([loadArguments(attempt.callId, claimed.submitted, deps.blobs), openWorkspace(run)]);
    run.inputs = { args: loaded.args, approved: loaded.approved, workspace };
  },
};

async function openWorkspace({ claimed, deps }: AttemptRun): Promise<Workspace> {
  const { meta, submitted } = claimed;
  const { workspaces, files } = deps;
  const workspace = await workspaces.resolve(meta);
  return submitted.files === undefined ? workspace : files.of(workspace, workspaces.pathOf(meta), meta.tool, submitted.files);
}
